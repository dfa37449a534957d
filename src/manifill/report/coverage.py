"""Coverage of predictive intervals on held-out cells.

The central interval of probability p covers a value if its rank among samples from the predictive distribution is not
in the outer (1 − p)/2 on either side.  If the values are discrete, samples tie with a value, and intervals necessarily
cover more than p.  Calibration is then measured with ranks whose ties are broken at random (the randomised probability
integral transform), which are uniform if the model is right.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from manifill.base import progress
from manifill.base.arrays import Array, Generator, Vector
from manifill.posterior.cell_draws import product_at_cells
from manifill.posterior.cell_parameters import parameters_at, variables_needed
from manifill.problem import Observations
from manifill.report.report_data import ReportData

__all__ = ["Coverage", "Ranks", "coverage", "is_covered", "ranks"]

BAND = 0.95

# A count times its step, and the same number read from a file, may differ in the last digit.
ROUNDING = 1e-9

# Mean share of samples that tie with a value from which values count as discrete.  Fewer ties do not change a coverage
# that is printed in tenths of a per cent; among millions of continuous samples, a few tie by chance within ROUNDING.
TIE_SHARE = 1e-3


class Ranks(NamedTuple):
    """Ranks of held-out values among values sampled for their cells, (k,) each."""

    mean: Vector  # the predictive mean, in the units of the data
    below: Vector  # share of samples below the value
    at_most: Vector  # share of samples below the value or equal to it
    randomised: Vector  # share of samples below the value, plus a random part of those equal to it

    @property
    def has_ties(self) -> bool:
        """Whether samples tie with values, because the values are discrete."""
        return bool(np.mean(self.at_most - self.below) > TIE_SHARE)


class Coverage(NamedTuple):
    """The share of values that intervals of one probability cover."""

    level: float
    share: float
    randomised_share: float  # with ties broken at random; equal to ``share`` if there are none
    low: float  # if the model is right, the randomised share is between low and high with probability BAND
    high: float


def ranks(rng: Generator, data: ReportData, held_out: Observations) -> Ranks:
    """Sample a value for every held-out cell from every draw, and rank the held-out values; reads the draws once."""
    draws, likelihood = data.draws, data.model.model_.likelihood
    rows, cols, values = held_out.triples()
    rows, cols = rows.astype(np.int64), cols.astype(np.int64)
    x, mean, below, at_most = np.zeros((4, values.size))
    units = draws.column_units.at(cols)
    target = units.to_model(values)
    slack = ROUNDING * np.abs(target)
    factors = draws.factors(variables_needed(draws, likelihood))
    for left, right, variables in progress.counted(factors, "ranking held-out values", draws.total, "draws"):
        product_at_cells(left, right, rows, cols, x)
        parameters = parameters_at(variables, rows, cols)
        sample = likelihood.sample(rng, x, parameters)
        mean += units.moments(likelihood.mean(x), likelihood.variance(x, parameters))[0]
        below += sample < target - slack
        at_most += sample <= target + slack
    total = draws.total
    below, at_most = below / total, at_most / total
    randomised = below + rng.random(values.size) * (at_most - below)
    return Ranks(mean / total, below, at_most, randomised)


def is_covered(found: Ranks, level: float) -> Array:
    """Return for each value whether the central interval of this probability covers it, (k,)."""
    tail = 0.5 * (1.0 - level)
    return np.asarray((found.at_most >= tail) & (found.below <= 1.0 - tail))


def coverage(found: Ranks, level: float) -> Coverage:
    """Return the coverage of intervals of this probability; the expected band treats cells as independent."""
    size = found.mean.size
    low, high = binom.interval(BAND, size, level)
    share, randomised_share = is_covered(found, level).mean(), np.mean(np.abs(found.randomised - 0.5) <= 0.5 * level)
    return Coverage(level, float(share), float(randomised_share), float(low / size), float(high / size))
