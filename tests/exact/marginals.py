"""What is known exactly of one quantity of a posterior, and how draws are compared with it."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from manifill.base.arrays import Array
from tests.exact.zscores import z_scores

PROBABILITIES = (0.1, 0.5, 0.9)

Distribution = Callable[[float], float]


class Marginal(NamedTuple):
    """Mean, variance, and the probabilities of lying below a few thresholds; or the mean alone.

    Mean and variance are those of tanh(x / scale).  A finite scale is for tails that fall like a power: chains visit
    them seldom and in long stays, so that an error estimated from one run says little, and with tails as wide as those
    of a learned rate the squares have no third moment.
    """

    mean: float
    variance: float | None = None
    thresholds: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    scale: float = math.inf  # infinite: of x itself


def rough_quantiles(cdf: Distribution, lower: float, upper: float) -> tuple[float, ...]:
    """Return points where ``cdf``, which may be of a coarse grid, reaches PROBABILITIES, to two decimals."""
    return tuple(round(brentq(lambda c, p=p: cdf(c) - p, lower, upper, xtol=1e-3), 2) for p in PROBABILITIES)


def away_from_zero(thresholds: tuple[float, ...], distance: float) -> tuple[float, ...]:
    """Push thresholds of a product out of where its density is singular, which a quadrature resolves slowly."""
    return tuple(round(float(np.copysign(max(abs(c), distance), c)), 2) for c in thresholds)


def bounded(x: Array, scale: float) -> Array:
    """Return tanh(x / scale), or x if the scale is infinite."""
    return x if math.isinf(scale) else np.tanh(x / scale)


def marginal(
    mean: float, variance: float, cdf: Distribution, thresholds: tuple[float, ...], scale: float = math.inf
) -> Marginal:
    return Marginal(mean, variance, thresholds, tuple(cdf(c) for c in thresholds), scale)


def compare(draws: Array, exact: Marginal) -> list[float]:
    """Return z-scores of the mean, the variance and the shares of draws below thresholds; draws are (chain, draw)."""
    values = bounded(draws, exact.scale)
    columns, expected = [values], [exact.mean]
    if exact.variance is not None:
        columns.append((values - exact.mean) ** 2)
        expected.append(exact.variance)
    columns += [draws <= threshold for threshold in exact.thresholds]
    expected += exact.probabilities
    return [float(z) for z in z_scores(np.stack(columns, axis=2), np.array(expected))]
