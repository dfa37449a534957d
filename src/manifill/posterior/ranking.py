"""The best columns for a row, with their predictions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from manifill.base import progress
from manifill.base.arrays import Array, Generator, IntVector, Matrix, Vector
from manifill.likelihoods import Likelihood
from manifill.posterior.cell_draws import at_cells
from manifill.posterior.draws import Draws
from manifill.posterior.predictive import predict

__all__ = ["Ranking", "rank_columns"]

# Enough draws for a probability to two digits.
ENOUGH_DRAWS = 1000

# The mean of some draws may rank a candidate too low, so all draws decide between this many more than are asked for.
MARGIN = 100


@dataclass(frozen=True, eq=False)
class Ranking:
    """The best n columns for one row, in descending order of expected value."""

    columns: Array  # (n,): labels, or indices if the columns have no labels
    mean: Vector  # (n,): predictive mean, that of ``predict``
    sd: Vector  # (n,): predictive standard deviation, that of ``predict``
    probability: Vector  # (n,): that the column is among the best n, by expected value

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per ranked column."""
        import pandas as pd

        parts = {"column": self.columns, "mean": self.mean, "sd": self.sd, "probability": self.probability}
        return pd.DataFrame(parts)


def rank_columns(
    rng: Generator, draws: Draws, likelihood: Likelihood, row: int, candidates: IntVector, number: int
) -> Ranking:
    """Return the ``number`` best candidates for a row, by predictive mean.

    All candidates are compared by some of the draws, if there are many.  The best of them are then predicted from all
    draws, so that their means and standard deviations are those of ``predict``.
    """
    expected = _expected(draws, likelihood, row, candidates)
    number = min(number, candidates.size)
    likely = np.argsort(-expected.mean(axis=0), kind="stable")[: number + MARGIN]
    found = predict(rng, draws, likelihood, np.full(likely.size, row), candidates[likely])
    best = np.argsort(-found.mean, kind="stable")[:number]
    listed = likely[best]
    return Ranking(candidates[listed], found.mean[best], found.sd[best], _among_best(expected, number)[listed])


def _expected(draws: Draws, likelihood: Likelihood, row: int, candidates: IntVector) -> Matrix:
    """Return E[y | x] for each draw, or for evenly spread ones if there are many, (draws, candidates)."""
    some, units = draws.thinned(ENOUGH_DRAWS), draws.column_units.at(candidates)
    cells = at_cells(some, likelihood, np.full(candidates.size, row), candidates)
    return np.array(
        [
            units.moments(likelihood.mean(x), likelihood.variance(x, parameters))[0]
            for x, parameters in progress.counted(cells, "ranking", some.total, "draws")
        ]
    )


def _among_best(expected: Matrix, number: int) -> Vector:
    """Return the share of the draws in which a candidate is among the best ``number``, (candidates,)."""
    count = np.zeros(expected.shape[1])
    for values in expected:
        count[np.argpartition(-values, number - 1)[:number]] += 1.0
    return count / len(expected)
