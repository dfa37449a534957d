"""What is believed beforehand, as the numbers that the mode depends on."""

from typing import NamedTuple

import numpy as np

from manifill.problem import Compressed, Likelihood, Observations
from manifill.problem.defaults import variance_of
from manifill.types import Vector

__all__ = ["EffectPrecisions", "Prior", "default_effects"]

# A variance between rows or columns below this share of all variance is taken for this share: that few lines do not
# differ is no proof that they cannot.
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

    1/κ_a and 1/κ_b are the variances between rows and between columns that are found in the data, on the scale of x.
    The mean is pulled to that of the data as if by one more cell.
    """
    by_row, by_column = (
        likelihood.starting_point(likelihood.encode(cells.values))
        for cells in (observations.by_row, observations.by_column)
    )
    variance = variance_of(by_row) or 1.0  # of constant data any will do: there are no effects
    least = SMALLEST_SHARE * variance
    return EffectPrecisions(
        row=1.0 / max(_variance_between(observations.by_row, by_row), least),
        column=1.0 / max(_variance_between(observations.by_column, by_column), least),
        mean=1.0 / variance,
        centre=float(np.mean(by_row)),
    )


def _variance_between(cells: Compressed, x: Vector) -> float:
    """Return the variance of lines about the mean, as one-way analysis of variance estimates it; it may be negative."""
    counts = np.diff(cells.starts)
    counts = counts[counts > 0]
    spare = len(x) - float(np.sum(counts**2)) / len(x)
    if spare <= 0.0:  # one line only
        return 0.0
    means = np.add.reduceat(x, np.cumsum(counts) - counts) / counts
    between = float(np.sum(counts * (means - np.mean(x)) ** 2))
    within = float(np.sum((x - np.repeat(means, counts)) ** 2)) / max(len(x) - len(counts), 1)
    return (between - (len(counts) - 1) * within) / spare
