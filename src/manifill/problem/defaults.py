"""Priors that take their scale from the data, for those who give none."""

import numpy as np

from manifill.problem.additive import fit_additive, positive_square, variance_of
from manifill.problem.effects import EffectsPrior
from manifill.problem.likelihoods import Likelihood
from manifill.problem.observations import Observations
from manifill.problem.priors import Gamma, ScaledF
from manifill.types import Vector

__all__ = ["scaled_effects_prior", "scaled_noise_prior", "scaled_rate_prior"]

# The noise is taken to be about a fifth of the data's spread.  Data that want it larger are resisted with the weight of
# four cells, those that want it smaller with that of twenty: with too few cells any residual can be explained away.
# Nothing is believed to be more exact than one part in a thousand.
NOISE_SHARE, NOISE_SHAPE, NOISE_TAIL, NOISE_FLOOR = 0.2, 2.0, 10.0, 1e-3

# Variances of row and column effects: of the size of what they could explain, down to about a hundredth of it.
EFFECTS_SHARE = 0.01

# The mean is within some ten standard deviations of the values' mean.
MEAN_WIDTH = 10.0


def _starting_points(observations: Observations, likelihood: Likelihood) -> Vector:
    return likelihood.starting_point(likelihood.encode(observations.by_row.values))


def scaled_rate_prior(rank: int, observations: Observations, likelihood: Likelihood, *, effects: bool) -> Gamma:
    """Return a weak prior of λ on the scale of the data.

    A matrix of rank r whose entries are of size ρ has singular values of about ρ √(mn/r).  The prior is exponential
    with 1/λ of that size, so it tells the scale and little else.  Beside effects ρ is the spread that they leave,
    otherwise the values' root mean square.
    """
    x = _starting_points(observations, likelihood)
    size = np.sqrt(positive_square(fit_additive(observations, x).beside_both if effects else 0.0, x))
    m, n = observations.shape
    return Gamma(1.0, float(size * np.sqrt(m * n / rank)))


def scaled_noise_prior(observations: Observations) -> ScaledF:
    """Return a prior of 1/σ² about NOISE_SHARE of the values' spread.

    It decides where the data cannot: with fewer cells than degrees of freedom σ is not identified.  Its tails are so
    heavy that a spread which is that of columns' levels costs no more than the weight of some cells.
    """
    values = observations.by_row.values
    variance = positive_square(variance_of(values), values)
    return ScaledF(
        shape=NOISE_SHAPE,
        tail=NOISE_TAIL,
        scale=1.0 / (NOISE_SHARE**2 * variance),
        floor=0.5 * NOISE_FLOOR**2 * variance,
    )


def scaled_effects_prior(observations: Observations, likelihood: Likelihood) -> EffectsPrior:
    """Return weak priors of mean, row and column effects on the scale of the data.

    Rows are measured by what is left when columns come off, and the other way round: a table whose columns have very
    different levels says nothing of how its rows differ.
    """
    x = _starting_points(observations, likelihood)
    fit = fit_additive(observations, x)
    row, column = (Gamma(1.0, EFFECTS_SHARE * positive_square(v, x)) for v in (fit.beside_columns, fit.beside_rows))
    return EffectsPrior(float(np.mean(x)), 1.0 / (MEAN_WIDTH**2 * positive_square(variance_of(x), x)), row, column)
