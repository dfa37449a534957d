"""Default priors, scaled by the data."""

import numpy as np

from manifill.base.arrays import Vector
from manifill.base.priors import ComponentGamma, Gamma, ScaledF
from manifill.likelihoods import Likelihood, Spread, Tails
from manifill.problem.additive_fit import fit_additive, positive_square, variance_of, variance_within
from manifill.problem.observations import Observations
from manifill.unknowns.effects import EffectsPrior

__all__ = ["SPREAD", "TAILS", "scaled_effects_prior", "scaled_factor_prior", "scaled_noise_prior", "scaled_rate_prior"]

# The prior expects noise of about a fifth of the data's standard deviation.  Against larger noise it has the weight of
# four cells, against smaller noise that of twenty, since with few cells the low-rank matrix can explain any residual.
# Noise below a thousandth of the standard deviation is all but excluded.
NOISE_SHARE, NOISE_SHAPE, NOISE_TAIL, NOISE_FLOOR = 0.2, 2.0, 10.0, 1e-3

# The standard deviation that matters is at most so many times that about the means of columns, or of rows, if there are
# effects: levels that are far apart say nothing about the noise, and a prior on their scale would determine it.
LARGEST_LEVELS = 10.0

# The widths of row and column factors of the precision, and the degrees of freedom of Student's t, which do not depend
# on the scale of the data.  Up to its bound of ½ the prior of the width is nearly flat.
SPREAD, TAILS = Spread(0.5), Tails(2.0, 0.1)

# Variances of row and column effects: at least about a hundredth of the variance that they could explain.
EFFECTS_SHARE = 0.01

# Prior standard deviation of the mean, in standard deviations of the values.
MEAN_WIDTH = 10.0


def _starting_points(observations: Observations, likelihood: Likelihood) -> Vector:
    return likelihood.starting_point(likelihood.encode(observations.by_row.values))


def scaled_rate_prior(rank: int, observations: Observations, likelihood: Likelihood, *, effects: bool) -> Gamma:
    """Return a weak prior of λ on the scale of the data.

    A matrix of rank r whose entries are of size ρ has singular values of about ρ √(mn/r).  The prior of λ is
    exponential, and 1/λ is of that size, so the prior sets the scale and little else.  With effects, ρ is the residual
    standard deviation of their fit, otherwise the root mean square of the values.
    """
    m, n = observations.shape
    return Gamma(1.0, _size(observations, likelihood, effects=effects) * float(np.sqrt(m * n / rank)))


def scaled_factor_prior(
    rank: int, observations: Observations, likelihood: Likelihood, *, effects: bool
) -> ComponentGamma:
    """Return a weak prior of the precisions of the components of A Bᵀ on the scale of the data.

    If r components have entries of variance v in both factors, those of A Bᵀ have the size v √r.  The prior of each
    precision has the weight of one entry, which is of that size.
    """
    return ComponentGamma(0.5, 0.5 * _size(observations, likelihood, effects=effects) / float(np.sqrt(rank)))


def _size(observations: Observations, likelihood: Likelihood, *, effects: bool) -> float:
    """Return the size of the entries of the low-rank part if it is to explain what effects do not."""
    x = _starting_points(observations, likelihood)
    return float(np.sqrt(positive_square(fit_additive(observations, x).residual_of_both if effects else 0.0, x)))


def scaled_noise_prior(observations: Observations, *, effects: bool) -> ScaledF:
    """Return a prior of 1/σ² with σ about NOISE_SHARE of the values' standard deviation.

    It matters if there are fewer cells than degrees of freedom, since σ is then not identified.  Its tails are heavy:
    if the standard deviation reflects different column levels rather than noise, the prior has the weight of only a few
    cells against the data.
    """
    rows, cols, values = observations.triples()
    variance = variance_of(values)
    if effects:
        within = min(variance_within(index, values) for index in (rows, cols))
        variance = min(variance, LARGEST_LEVELS**2 * within) or variance
    variance = positive_square(variance, values)
    return ScaledF(
        shape=NOISE_SHAPE,
        tail=NOISE_TAIL,
        scale=1.0 / (NOISE_SHARE**2 * variance),
        floor=0.5 * NOISE_FLOOR**2 * variance,
    )


def scaled_effects_prior(observations: Observations, likelihood: Likelihood) -> EffectsPrior:
    """Return weak priors of mean, row and column effects on the scale of the data.

    The scale of row effects is the residual variance after fitting column effects, and vice versa: very different
    column levels are no evidence that rows differ.
    """
    x = _starting_points(observations, likelihood)
    fit = fit_additive(observations, x)
    variances = fit.residual_of_columns, fit.residual_of_rows
    row, column = (Gamma(1.0, EFFECTS_SHARE * positive_square(variance, x)) for variance in variances)
    return EffectsPrior(float(np.mean(x)), 1.0 / (MEAN_WIDTH**2 * positive_square(variance_of(x), x)), row, column)
