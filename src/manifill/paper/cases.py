"""The data of the paper's experiments: three synthetic cases, mouse proteins, movie ratings."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Matrix
from manifill.datasets import load_mice_protein, load_movielens
from manifill.problem import Observations, from_array

__all__ = ["CASES", "TRIALS", "Case", "synthetic"]

# The paper does not state the number of trials of its third case.  Here it is the same as for MovieLens.
TRIALS = 10


class Case(NamedTuple):
    """A data set, its split into training and validation cells, and the models that the paper fits to it."""

    name: str
    description: str
    rank: int
    shares: tuple[float, ...]  # training cells as a share of all cells; for MovieLens, of the ratings
    third_model: str | None  # fitted in addition to ABᵀ and SVD
    split: Callable[[float, int], tuple[Observations, Observations]]  # (share, seed) -> training, validation
    histogram_limit: float  # largest deviation on a linear histogram, in the units of the data
    is_real: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, the baseline first."""
        return ("ABT", "SVD") if self.third_model is None else ("ABT", "SVD", self.third_model)


def synthetic(case: int, share: float, noise: float, seed: int) -> tuple[Observations, Observations]:
    """Return training and validation cells of a 100×60 matrix of rank 10.

    Case 1 has normal factors.  Case 2 has factors Exp(1) and U(0, 1).  Case 3 has Binomial counts with X on the logit
    scale.  The share ``share`` of all cells is used for training, another 40 % for validation.
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


@cache
def _mice() -> Observations:
    return load_mice_protein().observations


@cache
def _doubled_ratings() -> Observations:
    """Return the MovieLens ratings doubled to whole numbers from 1 to 10, without labels."""
    ratings = load_movielens().observations
    rows, cols, stars = ratings.triples()
    return Observations.from_triples(rows, cols, 2.0 * stars, ratings.shape)


def _split_mice(share: float, seed: int) -> tuple[Observations, Observations]:
    return _mice().split_cells(np.random.default_rng(seed), share)


def _split_movielens(share: float, seed: int) -> tuple[Observations, Observations]:
    return _doubled_ratings().split(np.random.default_rng(seed), 1.0 - share)


TWO_SHARES = (0.1, 0.4)

CASES = {
    case.name: case
    for case in (
        Case("case-1", "A and B normal", 10, TWO_SHARES, None, lambda s, k: synthetic(1, s, 0.0, k), 12.0),
        Case("case-2", "A ~ Exp(1), B ~ U(0, 1)", 10, TWO_SHARES, "S-SVD", lambda s, k: synthetic(2, s, 0.0, k), 5.0),
        Case("case-3", f"counts out of {TRIALS}", 10, TWO_SHARES, "B-SVD", lambda s, k: synthetic(3, s, 0.0, k), 10.0),
        Case("mice", "protein levels", 20, TWO_SHARES, "S-SVD", _split_mice, 0.5, True),
        Case("movielens", "ratings doubled to 1-10", 20, (0.8,), "B-SVD", _split_movielens, 8.0, True),
    )
}
