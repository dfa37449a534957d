"""The best columns for a row, with their uncertainty."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from manifill.base import progress
from manifill.base.arrays import Array, IntVector, Matrix, Vector
from manifill.likelihoods import Likelihood
from manifill.posterior.draws import Draws

__all__ = ["Ranking", "rank_columns"]

# Enough draws for a probability to two digits.
ENOUGH_DRAWS = 1000


@dataclass(frozen=True, eq=False)
class Ranking:
    """The best n columns for one row, in descending order of expected value."""

    columns: Array  # (n,): labels, or indices if the columns have no labels
    mean: Vector  # (n,): posterior mean of the expected value
    sd: Vector  # (n,): posterior sd of the expected value, without observation noise
    probability: Vector  # (n,): that the column is among the best n

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per ranked column."""
        import pandas as pd

        parts = {"column": self.columns, "mean": self.mean, "sd": self.sd, "probability": self.probability}
        return pd.DataFrame(parts)


def rank_columns(draws: Draws, likelihood: Likelihood, row: int, candidates: IntVector, number: int) -> Ranking:
    """Return the ``number`` best candidates for a row, by posterior mean of the expected value."""
    scales = np.broadcast_to(draws.column_scales, draws.shape[1])[candidates]
    expected = _expected(draws, likelihood, row, candidates) * scales
    number = min(number, candidates.size)
    mean = expected.mean(axis=0)
    best = np.argsort(-mean, kind="stable")[:number]
    among = np.zeros(candidates.size)
    for values in expected:
        among[np.argpartition(-values, number - 1)[:number]] += 1.0
    return Ranking(candidates[best], mean[best], expected[:, best].std(axis=0), among[best] / len(expected))


def _expected(draws: Draws, likelihood: Likelihood, row: int, candidates: IntVector) -> Matrix:
    """Return E[y | x] for each draw, or for evenly spread ones if there are many, (draws, candidates)."""
    some = draws.thinned(ENOUGH_DRAWS)
    factors = progress.counted(some.factors(), "ranking", some.total, "draws")
    return np.array([likelihood.mean(right[candidates] @ left[row]) for left, right, _ in factors])
