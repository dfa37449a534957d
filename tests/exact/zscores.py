"""Monte Carlo means against what they should be, in units of their standard errors."""

import math
from importlib import import_module

import numpy as np

from manifill.base.arrays import Array, Vector

__all__ = ["false_alarm_rate", "z_scores"]


def standard_error(draws: Array) -> Vector:
    """Return the standard error of the mean over the first two axes, chain and draw, by the effective sample size."""
    draws = np.asarray(draws, dtype=np.float64)
    size = import_module("arviz_stats.base").array_stats.ess(draws, chain_axis=0, draw_axis=1, method="mean")
    return np.asarray(draws.std(axis=(0, 1), ddof=1) / np.sqrt(size))


def z_scores(draws: Array, expected: Array | float) -> Vector:
    """Return (mean − expected)/standard error for each quantity; ``draws`` is (chain, draw, …)."""
    return np.atleast_1d((np.mean(draws, axis=(0, 1)) - expected) / standard_error(draws))


def false_alarm_rate(bound: float, comparisons: int) -> float:
    """Return the chance that a correct sampler exceeds ``bound`` in one of so many comparisons (at most)."""
    return comparisons * math.erfc(bound / math.sqrt(2.0))
