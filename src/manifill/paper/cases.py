"""The data of the paper's experiments: three synthetic cases, mouse proteins, movie ratings."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from manifill.datasets import load_mice_protein, load_movielens
from manifill.problem import Observations, from_array
from manifill.types import Generator, Matrix

__all__ = ["CASES", "TRIALS", "Case", "synthetic"]

# The paper does not print the number of trials of its third case; it is that of MovieLens here.
TRIALS = 10


class Case(NamedTuple):
    """A data set, how it is split, and the models that the paper fits to it."""

    name: str
    about: str
    rank: int
    shares: tuple[float, ...]  # of all cells to train with; of MovieLens, of the ratings
    third: str | None  # the model beside ABᵀ and SVD
    split: Callable[[float, int], tuple[Observations, Observations]]  # by share and seed: to train, to validate
    widest: float  # deviation that a histogram shows, in the data's units, unless all are tiny
    is_real: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, the baseline first."""
        return ("ABT", "SVD") if self.third is None else ("ABT", "SVD", self.third)


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


@cache
def _mice() -> Observations:
    return load_mice_protein().observations


@cache
def _doubled_ratings() -> Observations:
    """Return MovieLens with half stars as whole numbers, 1 to 10, without labels."""
    ratings = load_movielens().observations
    rows, cols, stars = ratings.triples()
    return Observations.from_triples(rows, cols, 2.0 * stars, ratings.shape)


def _split_mice(share: float, seed: int) -> tuple[Observations, Observations]:
    return _mice().split_cells(np.random.default_rng(seed), share)


def _split_movielens(share: float, seed: int) -> tuple[Observations, Observations]:
    return _doubled_ratings().split(np.random.default_rng(seed), 1.0 - share)


BOTH = (0.1, 0.4)

CASES = {
    case.name: case
    for case in (
        Case("case-1", "A and B normal", 10, BOTH, None, lambda s, k: synthetic(1, s, 0.0, k), 12.0),
        Case("case-2", "A ~ Exp(1), B ~ U(0, 1)", 10, BOTH, "S-SVD", lambda s, k: synthetic(2, s, 0.0, k), 5.0),
        Case("case-3", f"counts out of {TRIALS}", 10, BOTH, "B-SVD", lambda s, k: synthetic(3, s, 0.0, k), 10.0),
        Case("mice", "protein levels", 20, BOTH, "S-SVD", _split_mice, 0.5, True),
        Case("movielens", "ratings doubled to 1-10", 20, (0.8,), "B-SVD", _split_movielens, 8.0, True),
    )
}
