"""How honest are the intervals?  Judged by cells that the fit has not seen.

The interval of probability p covers a value whose rank among the model's own samples is not in the outer (1 − p)/2 on
either side.  Where values come in steps, samples tie with a value, and intervals cannot but cover more than p; then
ranks with ties split at random tell whether the model is right, since these are uniform if it is.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from manifill.posterior.cells import product_at_cells
from manifill.problem import Observations
from manifill.report.study import Study
from manifill.types import Array, Generator, Vector

__all__ = ["Coverage", "Ranks", "coverage", "covered", "ranks"]

BAND = 0.95

# Counts times their step, and the same numbers read from a file, may differ in the last digit.
ROUNDING = 1e-9


class Ranks(NamedTuple):
    """Where held-out values fall among values sampled for their cells, (k,) each."""

    mean: Vector  # the predictive mean, in the data's units
    below: Vector  # share of samples below the value
    at_most: Vector  # share of samples below or equal
    split: Vector  # share of samples below, and a random part of those equal

    @property
    def has_ties(self) -> bool:
        """Whether values come in steps."""
        return bool(np.any(self.at_most > self.below))


class Coverage(NamedTuple):
    """How many values the intervals of one probability cover."""

    level: float
    share: float
    split_share: float  # the same where there are no ties
    low: float  # between these two it is 19 times in 20 if the model is right
    high: float


def ranks(rng: Generator, study: Study, held_out: Observations) -> Ranks:
    """Sample a value for every held-out cell from every draw, and count; the draws are read once."""
    draws, likelihood = study.draws, study.model.model_.likelihood
    rows, cols, values = held_out.triples()
    rows, cols = rows.astype(np.int64), cols.astype(np.int64)
    x, mean, below, at_most = np.zeros((4, values.size))
    target = values / study.spreads[cols]
    slack = ROUNDING * np.abs(target)
    for left, right, sigma in draws.factors():
        product_at_cells(left, right, rows, cols, x)
        sample = likelihood.sample(rng, x, sigma if sigma.ndim == 0 else sigma[cols])
        mean += likelihood.mean(x)
        below += sample < target - slack
        at_most += sample <= target + slack
    total = draws.chains * draws.draws
    below, at_most = below / total, at_most / total
    split = below + rng.random(values.size) * (at_most - below)
    return Ranks(study.spreads[cols] * mean / total, below, at_most, split)


def covered(found: Ranks, level: float) -> Array:
    """Say of each value whether the central interval of this probability holds it."""
    tail = 0.5 * (1.0 - level)
    return np.asarray((found.at_most >= tail) & (found.below <= 1.0 - tail))


def coverage(found: Ranks, level: float) -> Coverage:
    """Return how many values are covered, and how many should be, as if cells were independent."""
    size = found.mean.size
    low, high = binom.interval(BAND, size, level)
    share, split_share = covered(found, level).mean(), np.mean(np.abs(found.split - 0.5) <= 0.5 * level)
    return Coverage(level, float(share), float(split_share), float(low / size), float(high / size))
