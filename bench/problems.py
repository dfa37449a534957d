"""The problems that the benchmarks share: the paper's synthetic cases, and the real data in ``MANIFILL_DATA``."""

import os

import numpy as np

from manifill.datasets import load_mice_protein, load_movielens
from manifill.problem import Observations, from_array
from manifill.types import Generator, Matrix

__all__ = ["has_real_data", "mice", "movielens", "synthetic"]

TRIALS = 10  # of the paper's third case, which does not print it: as for MovieLens


def synthetic(case: int, share: float, noise: float, seed: int) -> tuple[Observations, Observations]:
    """Return training and validation cells of a 100×60 matrix of rank 10.

    Case 1 has normal factors, case 2 factors Exp(1) and U(0, 1), case 3 counts of a Binomial on the logit scale.  The
    share ``share`` of all cells is for training, another 40 % for validation.
    """
    rng = np.random.default_rng(seed)
    X = _low_rank(case, rng)
    if case == 3:
        Y = rng.binomial(TRIALS, 1.0 / (1.0 + np.exp(-X))).astype(np.float64)
    else:
        Y = X + noise * rng.standard_normal(X.shape)
    return from_array(Y).split_cells(rng, share, 0.4)


def _low_rank(case: int, rng: Generator) -> Matrix:
    m, n, r = 100, 60, 10
    if case == 2:
        return np.asarray(rng.exponential(size=(m, r)) @ rng.uniform(size=(n, r)).T)
    return np.asarray(rng.standard_normal((m, r)) @ rng.standard_normal((n, r)).T)


def has_real_data() -> bool:
    """Say whether MANIFILL_DATA names the real data; a benchmark does not download them unasked."""
    return bool(os.environ.get("MANIFILL_DATA"))


def mice() -> Observations:
    """Return the protein levels, 1080 measurements × 77 proteins, missing cells left out."""
    return load_mice_protein().observations


def movielens() -> Observations:
    """Return the ratings of MovieLens (ml-latest-small) in stars, 610 users × 9724 movies."""
    return load_movielens().observations
