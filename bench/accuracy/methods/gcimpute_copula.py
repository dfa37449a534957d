"""Gcimpute: imputation by a Gaussian copula, of low rank for wide tables."""

import numpy as np

from accuracy.methods.dense import Arranged
from accuracy.methods.method import Method
from accuracy.predicted import Classes, Mixture
from accuracy.scores import STARS
from accuracy.tables import Split
from manifill.base.arrays import Array, Matrix

QUANTILES, QUICK_QUANTILES = 60, 10
LEAST_SPREAD = 0.03  # of that of the column; all quantiles of a cell may be equal
WIDE, RANK = 200, 8  # columns from which on the correlation has low rank


def copula(split: Split, quick: bool) -> Mixture | Classes:
    """Return stars as classes, and of other data the normal distribution with the right moments.

    Its conditional distributions are given by quantiles only, at evenly spaced levels.  The mean of these is more
    accurate than the imputation of ``transform``, a median.  They end at the extremes of the column, so that a density
    of their own would be zero at some test cells: a kernel has far worse log scores than the normal distribution.
    """
    arranged = Arranged.of(split)
    levels = _quantiles(arranged.table, QUICK_QUANTILES if quick else QUANTILES)
    quantiles = arranged.at_test_cells(levels, arranged.means)
    if split.stars:
        return Classes(_shares(quantiles))
    mean = quantiles.mean(axis=0)
    sd = np.where(arranged.known, quantiles.std(axis=0), arranged.spreads)
    return Mixture(mean[None], np.maximum(sd, LEAST_SPREAD * arranged.spreads)[None], mean)


def _quantiles(table: Matrix, count: int) -> Array:
    """Return quantiles of the missing cells at the levels (t + ½) / count, (count, rows, columns)."""
    np.round_ = np.round  # type: ignore[attr-defined]  # noqa: NPY003, NPY201  # gcimpute calls it, NumPy 2 removed it
    from gcimpute.gaussian_copula import GaussianCopula
    from gcimpute.low_rank_gaussian_copula import LowRankGaussianCopula

    model = GaussianCopula() if table.shape[1] < WIDE else LowRankGaussianCopula(rank=RANK)
    model.fit(table)
    found = np.empty((count, *table.shape), dtype=np.float32)
    for t in range(count // 2):
        interval = model.get_confidence_interval(alpha=1.0 - (2 * t + 1) / count)
        found[t], found[-1 - t] = interval["lower"], interval["upper"]
    return found


def _shares(quantiles: Matrix) -> Matrix:
    """Return the shares of quantiles in the bins of the ten stars, (k, 10), with half a quantile added to each."""
    edges = 0.5 * (STARS[:-1] + STARS[1:])
    number = np.searchsorted(edges, quantiles)
    counts = np.stack([np.sum(number == star, axis=0) for star in range(STARS.size)], axis=1)
    return np.asarray((counts + 0.5) / (len(quantiles) + 0.5 * STARS.size))


METHODS = {"gcimpute": Method(copula, "gcimpute", scalable=False)}  # its marginals are empirical
