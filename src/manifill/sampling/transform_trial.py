"""Whether transformed columns predict better than untransformed ones, tried on cells that are left out."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from manifill.base import progress
from manifill.base.arrays import Generator, Vector
from manifill.problem import Model, Observations
from manifill.problem.column_shapes import fit_shapes, standardised
from manifill.problem.column_spreads import column_spreads
from manifill.problem.column_units import SAME_UNITS, ColumnUnits
from manifill.sampling.held_out_trials import SHORTEST, Trials, divided, mean_and_error, some_cells
from manifill.sampling.rank_search import GAIN, largest_rank

__all__ = ["RANK", "Comparison", "try_transform"]

RANK = 8  # of both models, or the largest possible one

# A choice between two models needs fewer cells than a search for a rank.  On small tables it is repeated with other
# cells left out, until so many have been predicted, or so many times.
MOST_CELLS, ENOUGH_HELD_OUT, MOST_REPEATS = 200_000, 5000, 10

# The log density of a cell counts as if it differed by no more than this, so that no outlier decides.
LARGEST_GAIN = 5.0

# Transformed columns may have an RMSE of so many times that of untransformed ones; more is accepted if chance explains
# it, within so many standard errors, and up to a limit: a single cell that is predicted to be far outside the others
# has a standard error as large as its excess.
LARGEST_RATIO, STANDARD_ERRORS, LIMIT = 1.01, 2.0, 1.1


class Comparison(NamedTuple):
    """Predictions with transformed columns compared with those without."""

    gain: float  # of the mean log density, per cell
    error: float  # of the gain
    excess: float  # of the mean squared error over what is allowed, in standard errors
    ratio: float  # of the RMSEs

    @property
    def favours_transform(self) -> bool:
        """Whether the log score is better by more than chance, and the RMSE is not clearly larger."""
        return self.gain > max(GAIN, self.error) and self.excess <= STANDARD_ERRORS and self.ratio <= LIMIT


def try_transform(
    rng: Generator,
    observations: Observations,
    model_of: Callable[[Observations, int], Model],
    *,
    scaled: bool,
) -> Comparison | None:
    """Compare predictions of left-out cells; None if there are too few.

    ``model_of`` returns the model of a rank for observations in the units of the model.  ``scaled`` is whether columns
    that are not transformed are divided by their spreads.  Spreads and shapes are fitted to the same cells as the
    models.
    """
    some, found = some_cells(rng, observations, MOST_CELLS), list[_Scores]()
    rank = min(RANK, largest_rank(some.shape))
    while sum(part.gains.size for part in found) < ENOUGH_HELD_OUT and len(found) < MOST_REPEATS:
        parts = divided(rng, some)
        if parts is None:
            return None
        found.append(_scores(rng, *parts, lambda given: model_of(given, rank), scaled))
    gains, squares, without = (np.concatenate(values) for values in zip(*found, strict=True))
    gain, error = mean_and_error(gains, some.size)
    more, its_error = mean_and_error(squares - LARGEST_RATIO**2 * without, some.size)
    ratio = float(np.sqrt(squares.mean() / max(without.mean(), np.finfo(np.float64).tiny)))
    return Comparison(gain, error, more / its_error if its_error > 0.0 else 0.0, ratio)


class _Scores(NamedTuple):
    """Of each left-out cell."""

    gains: Vector  # of the log density
    squares: Vector  # the squared error with transformed columns, in units of their spreads
    without: Vector  # that with untransformed ones


def _scores(
    rng: Generator,
    train: Observations,
    test: Observations,
    model_of: Callable[[Observations], Model],
    scaled: bool,
) -> _Scores:
    _, cols, y = test.triples()
    scales = column_spreads(train)
    both = _untransformed(train, scales, scaled=scaled), fit_shapes(train)
    with threadpool_limits(1, "blas"):
        trials = [Trials(train, test, units) for units in both]
        models = [model_of(each.train) for each in trials]
        progress.begin("trying transformed columns", 4.0 * SHORTEST, "sweeps")
        without, shaped = (trial.run(rng, model) for trial, model in zip(trials, models, strict=True))
    gains = np.clip(shaped.log_density - without.log_density, -LARGEST_GAIN, LARGEST_GAIN)
    return _Scores(gains, *(((trial.mean - y) / scales[cols]) ** 2 for trial in (shaped, without)))


def _untransformed(train: Observations, scales: Vector, *, scaled: bool) -> ColumnUnits:
    """Return the units of columns that are not transformed; with gross outliers they are standardised."""
    without = standardised(train)
    if not without.is_linear:
        return without
    return ColumnUnits.divided_by(scales) if scaled else SAME_UNITS
