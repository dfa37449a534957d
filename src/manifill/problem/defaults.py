"""Priors that take their scale from the data, for those who give none."""

from typing import NamedTuple

import numpy as np

from manifill.problem.effects import EffectsPrior
from manifill.problem.likelihoods import Likelihood
from manifill.problem.observations import Observations
from manifill.problem.priors import Gamma, ScaledF
from manifill.types import Vector

__all__ = ["scaled_effects_prior", "scaled_noise_prior", "scaled_rate_prior", "variance_of"]

# The noise is taken to be about a fifth of the data's spread.  Data that want it larger are resisted with the weight of
# four cells, those that want it smaller with that of twenty: with too few cells any residual can be explained away.
# Nothing is believed to be more exact than one part in a thousand.
NOISE_SHARE, NOISE_SHAPE, NOISE_TAIL, NOISE_FLOOR = 0.2, 2.0, 10.0, 1e-3

# Variances of row and column effects: of the data's size, down to about a hundredth of it.
EFFECTS_SHARE = 0.01

# The mean is within some ten standard deviations of the values' mean.
MEAN_WIDTH = 10.0

# Values that differ by less than this share of their size do so by rounding alone.
ROUNDING = 1e-12


class _Spread(NamedTuple):
    mean: float
    variance: float  # 1 for constant data
    square: float  # 1 for zeros


def variance_of(values: Vector) -> float:
    """Return the variance of values, zero where they are the same but for rounding."""
    variance = float(np.var(values))
    return variance if variance > ROUNDING**2 * float(np.mean(values**2)) else 0.0


def _spread(values: Vector) -> _Spread:
    variance, square = variance_of(values), float(np.mean(values**2))
    return _Spread(float(np.mean(values)), variance or square or 1.0, square or 1.0)


def _starting_points(observations: Observations, likelihood: Likelihood) -> Vector:
    return likelihood.starting_point(likelihood.encode(observations.by_row.values))


def scaled_rate_prior(rank: int, observations: Observations, likelihood: Likelihood, *, effects: bool) -> Gamma:
    """Return a weak prior of λ on the scale of the data.

    A matrix of rank r whose entries are of size ρ has singular values of about ρ √(mn/r).  The prior is exponential
    with 1/λ of that size, so it tells the scale and little else.  Beside effects ρ is the spread of the values,
    otherwise their root mean square.
    """
    spread = _spread(_starting_points(observations, likelihood))
    size = np.sqrt(spread.variance if effects else spread.square)
    m, n = observations.shape
    return Gamma(1.0, float(size * np.sqrt(m * n / rank)))


def scaled_noise_prior(observations: Observations) -> ScaledF:
    """Return a prior of 1/σ² about NOISE_SHARE of the values' spread.

    It decides where the data cannot: with fewer cells than degrees of freedom σ is not identified.
    """
    variance = _spread(observations.by_row.values).variance
    return ScaledF(
        shape=NOISE_SHAPE,
        tail=NOISE_TAIL,
        scale=1.0 / (NOISE_SHARE**2 * variance),
        floor=0.5 * NOISE_FLOOR**2 * variance,
    )


def scaled_effects_prior(observations: Observations, likelihood: Likelihood) -> EffectsPrior:
    """Return weak priors of mean, row and column effects on the scale of the data."""
    spread = _spread(_starting_points(observations, likelihood))
    of_precision = Gamma(1.0, EFFECTS_SHARE * spread.variance)
    return EffectsPrior(spread.mean, 1.0 / (MEAN_WIDTH**2 * spread.variance), of_precision, of_precision)
