"""The best columns for a row, and how sure that is."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from manifill.posterior.draws import Draws
from manifill.problem import Likelihood
from manifill.types import Array, IntVector, Matrix, Vector

__all__ = ["Ranking", "rank_columns"]

# Draws beyond this many tell nothing more of a probability to two digits.
ENOUGH_DRAWS = 1000


@dataclass(frozen=True, eq=False)
class Ranking:
    """Columns for one row, the one of the highest expected value first."""

    columns: Array  # (n,): labels, or numbers where the columns have none
    mean: Vector  # (n,): of the expected value, over the draws
    sd: Vector  # (n,): of the expected value, without the noise of an observation
    probability: Vector  # (n,): that the column is among the best n

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, a line a column."""
        import pandas as pd

        parts = {"column": self.columns, "mean": self.mean, "sd": self.sd, "probability": self.probability}
        return pd.DataFrame(parts)


def rank_columns(draws: Draws, likelihood: Likelihood, row: int, candidates: IntVector, number: int) -> Ranking:
    """Return the ``number`` best of the candidates for a row, by what the draws expect there."""
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
    """Return E[y | x] of each draw, or of evenly spread ones of many, (draws, candidates)."""
    some = draws.thinned(ENOUGH_DRAWS)
    return np.array([likelihood.mean(right[candidates] @ left[row]) for left, right, _ in some.factors()])
