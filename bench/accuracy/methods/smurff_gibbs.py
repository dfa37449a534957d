"""SMURFF: Bayesian probabilistic matrix factorisation by Gibbs sampling."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix

from accuracy.methods.method import Method
from accuracy.predicted import Mixture
from accuracy.tables import Cells, Split
from manifill.base.arrays import Vector

BURN_IN, SAMPLES, QUICK_SAMPLES = 100, 400, 20
COMPONENTS = 200
SEED = 1


def factorization(split: Split, quick: bool, rank: int) -> Mixture:
    """Return the mixture over samples with sampled noise, of values less their mean, since the model has no intercept.

    Samples of the noise are not stored.  Its conditional distribution given the factors is concentrated at the root
    mean square of their residuals, which is used instead.
    """
    import smurff

    samples = QUICK_SAMPLES if quick else SAMPLES
    level = float(split.train.y.mean())
    centred = coo_matrix((split.train.y - level, (split.train.rows, split.train.cols)), shape=split.shape)
    with TemporaryDirectory() as folder:
        session = smurff.TrainSession(
            num_latent=min(rank, *split.shape),
            burnin=min(BURN_IN, samples),
            nsamples=samples,
            num_threads=1,
            seed=SEED,
            verbose=0,
            save_freq=1,
            save_name=str(Path(folder) / "samples.hdf5"),
        )
        session.setTrain(centred, smurff.SampledNoise(1.0 / np.var(split.train.y)))
        session.run()
        stored = session.makePredictSession().samples
    fitted = [_at(sample, split.train) - (split.train.y - level) for sample in stored]
    sds = np.array([np.sqrt(np.mean(residuals**2)) for residuals in fitted])
    means = np.array([level + _at(sample, split.test) for sample in stored], dtype=np.float32)
    kept = np.unique(np.linspace(0, len(means) - 1, COMPONENTS).astype(int))
    return Mixture(means[kept], sds[kept, None], means.mean(axis=0, dtype=np.float64))


def _at(sample: Any, cells: Cells) -> Vector:
    rows, cols = sample.latents
    return np.asarray(np.einsum("kr,kr->k", rows[cells.rows], cols[cells.cols]))


METHODS = {
    f"SMURFF, rank {rank}": Method(partial(factorization, rank=rank), "smurff", quick=rank == 8) for rank in (8, 20)
}
