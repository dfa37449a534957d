"""What is believed beforehand, as the numbers that the mode depends on."""

from typing import NamedTuple

import numpy as np

from manifill.problem import Likelihood, Observations
from manifill.problem.additive import fit_additive, variance_of
from manifill.types import IntVector, Vector

__all__ = ["EffectPrecisions", "Prior", "default_effects"]

# A variance between rows or columns below this share of what they could explain is taken for this share: that few lines
# do not differ is no proof that they cannot.
SMALLEST_SHARE = 1e-3


class EffectPrecisions(NamedTuple):
    """The precisions κ of row effects a_i and column effects b_j, about 0, and of the mean μ, about ``centre``."""

    row: float  # κ_a
    column: float  # κ_b
    mean: float  # κ_μ
    centre: float  # μ₀


class Prior(NamedTuple):
    """The rate λ of the singular values, the noise's precision γ, and those of the effects, if there are any."""

    rate: float
    precision: float = 1.0
    effects: EffectPrecisions | None = None


def default_effects(observations: Observations, likelihood: Likelihood) -> EffectPrecisions:
    """Return precisions on the scale of the data (docs/math.md, the mode).

    1/κ_a and 1/κ_b are the variances between rows and between columns that are found in the data, on the scale of x and
    with the least-squares fit of the others taken off.  The mean is pulled to that of the data as if by one more cell.
    """
    x = likelihood.starting_point(likelihood.encode(observations.by_row.values))
    rows, cols, _ = observations.triples()
    fit = fit_additive(observations, x)
    row = _variance_between(rows, x - fit.column, fit.free_columns)
    column = _variance_between(cols, x - fit.row, fit.free_rows)
    return EffectPrecisions(
        row=1.0 / max(row, SMALLEST_SHARE * (fit.beside_columns or 1.0)),  # of constant data any will do
        column=1.0 / max(column, SMALLEST_SHARE * (fit.beside_rows or 1.0)),
        mean=1.0 / (variance_of(x) or 1.0),
        centre=float(np.mean(x)),
    )


def _variance_between(lines: IntVector, x: Vector, spent: int) -> float:
    """Return the variance of lines about the mean, as one-way analysis of variance estimates it; it may be negative.

    ``spent`` degrees of freedom have gone into a fit before.
    """
    _, line, counts = np.unique(lines, return_inverse=True, return_counts=True)
    spare = len(x) - float(np.sum(counts**2)) / len(x)
    if spare <= 0.0:  # one line only
        return 0.0
    means = np.bincount(line, x) / counts
    between = float(np.sum(counts * (means - np.mean(x)) ** 2))
    within = float(np.sum((x - means[line]) ** 2)) / max(len(x) - len(counts) - spent, 1)
    return (between - (len(counts) - 1) * within) / spare
