"""What is known exactly of one quantity of a posterior, and how draws are compared with it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from tests.exact.zscores import z_scores

PROBABILITIES = (0.1, 0.5, 0.9)


class Marginal(NamedTuple):
    """Mean, variance and quantiles at PROBABILITIES; where only the mean is known, the rest is empty."""

    mean: float
    variance: float | None = None
    quantiles: tuple[float, ...] = ()


def quantiles(cdf: Callable[[float], float], lower: float, upper: float) -> tuple[float, ...]:
    """Return the points where ``cdf`` reaches PROBABILITIES."""
    return tuple(float(brentq(lambda c, p=p: cdf(c) - p, lower, upper, xtol=1e-6)) for p in PROBABILITIES)


def compare(draws: np.ndarray, exact: Marginal) -> list[float]:
    """Return z-scores of the mean, the variance and the shares of draws below the quantiles; draws are (chain, draw)."""
    columns, expected = [draws], [exact.mean]
    if exact.variance is not None:
        columns.append((draws - exact.mean) ** 2)
        expected.append(exact.variance)
    columns += [draws <= quantile for quantile in exact.quantiles]
    expected += PROBABILITIES[: len(exact.quantiles)]
    return z_scores(np.stack(columns, axis=2), np.array(expected)).tolist()
