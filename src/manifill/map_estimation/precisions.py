"""The prior of the mode: the rate of the singular values and the precisions of noise and effects."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import IntVector, Vector
from manifill.likelihoods import Likelihood
from manifill.problem import Observations
from manifill.problem.additive_fit import fit_additive, variance_of

__all__ = ["EffectPrecisions", "Prior", "default_effects"]

# Lower bound of the variance between rows or columns, as a fraction of the variance they could explain.  With few rows
# an estimate of zero does not show that rows do not differ.
SMALLEST_SHARE = 1e-3


class EffectPrecisions(NamedTuple):
    """The prior precisions κ of row effects and column effects, about 0, and of the mean μ, about ``centre``."""

    row: float  # κ_a
    column: float  # κ_b
    mean: float  # κ_μ
    centre: float  # μ₀


class Prior(NamedTuple):
    """The rate λ of the singular values, the noise precision γ, and the precisions of the effects, if any."""

    rate: float
    precision: float = 1.0
    effects: EffectPrecisions | None = None


def default_effects(observations: Observations, likelihood: Likelihood) -> EffectPrecisions:
    """Return precisions on the scale of the data (docs/math.md, the mode).

    1/κ_a and 1/κ_b are the variances between rows and between columns in the data, on the scale of x and after
    subtracting the least-squares fit of the other effects.  The prior of μ has the weight of one cell.
    """
    x = likelihood.starting_point(likelihood.encode(observations.by_row.values))
    rows, cols, _ = observations.triples()
    fit = fit_additive(observations, x)
    row = _variance_between(rows, x - fit.column, fit.free_columns)
    column = _variance_between(cols, x - fit.row, fit.free_rows)
    return EffectPrecisions(
        row=1.0 / max(row, SMALLEST_SHARE * (fit.residual_of_columns or 1.0)),  # 1 is arbitrary, for constant data
        column=1.0 / max(column, SMALLEST_SHARE * (fit.residual_of_rows or 1.0)),
        mean=1.0 / (variance_of(x) or 1.0),
        centre=float(np.mean(x)),
    )


def _variance_between(groups: IntVector, x: Vector, spent: int) -> float:
    """Return the one-way analysis-of-variance estimate of the variance between groups, which may be negative.

    ``groups`` holds the row, or the column, of each cell.  ``spent`` degrees of freedom were used by an earlier fit.
    """
    _, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    spare = len(x) - float(np.sum(counts**2)) / len(x)
    if spare <= 0.0:  # a single group
        return 0.0
    means = np.bincount(group, x) / counts
    between = float(np.sum(counts * (means - np.mean(x)) ** 2))
    within = float(np.sum((x - means[group]) ** 2)) / max(len(x) - len(counts) - spent, 1)
    return (between - (len(counts) - 1) * within) / spare
