"""Compiled operations on small square matrices, r×r or 2r×2r."""

import numpy as np

from manifill.base.arrays import Matrix
from manifill.base.jit import compiled, compiled_internal

__all__ = ["copy_skew_part", "copy_symmetric_part", "exponential"]

# The remainder of a Taylor polynomial of degree d is below 1e-16 if norm^(d + 1) / (d + 1)! is.
NORM_FOR_DEGREE_9 = 0.11
NORM_FOR_DEGREE_16 = 0.8

# For a larger norm (or NaN) the result is NaN; so is the energy then, and the trajectory counts as divergent.
LARGEST_NORM = 1e6

FACTORIALS = np.array([1.0, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600,
                       6227020800, 87178291200, 1307674368000, 20922789888000])  # fmt: skip


@compiled
def copy_symmetric_part(source: Matrix, out: Matrix) -> None:
    """Write ½(source + sourceᵀ) to ``out``, which may be ``source`` itself."""
    for a in range(source.shape[0]):
        for b in range(a + 1):
            mean = 0.5 * (source[a, b] + source[b, a])
            out[a, b] = mean
            out[b, a] = mean


@compiled
def copy_skew_part(source: Matrix, out: Matrix) -> None:
    """Write ½(source − sourceᵀ) to ``out``, which may be ``source`` itself."""
    for a in range(source.shape[0]):
        for b in range(a + 1):
            half = 0.5 * (source[a, b] - source[b, a])
            out[a, b] = half
            out[b, a] = -half


@compiled_internal
def _one_norm(matrix: Matrix) -> float:
    largest = 0.0
    for b in range(matrix.shape[1]):
        total = 0.0
        for a in range(matrix.shape[0]):
            total += abs(matrix[a, b])
        if total > largest or np.isnan(total):
            largest = total
    return largest


@compiled_internal
def _copy(source: Matrix, out: Matrix) -> None:
    for a in range(source.shape[0]):
        for b in range(source.shape[1]):
            out[a, b] = source[a, b]


@compiled_internal
def _add_taylor_terms(powers: Matrix, first: int, scale: float, out: Matrix) -> None:
    """Add Σ_j scale^(first + j) / (first + j)! M^j to ``out``, where powers[j - 1] is M^j and j < len(powers)."""
    size = out.shape[0]
    weight = scale**first / FACTORIALS[first]
    for a in range(size):
        out[a, a] += weight
    for j in range(1, powers.shape[0]):
        weight = scale ** (first + j) / FACTORIALS[first + j]
        for a in range(size):
            for b in range(size):
                out[a, b] += weight * powers[j - 1, a, b]


@compiled
def exponential(matrix: Matrix, out: Matrix) -> None:
    """Write exp(matrix) to ``out`` by a Taylor polynomial, scaling and squaring.

    The polynomial of degree q², q = 3 or 4, is evaluated by Horner's rule in M^q (Paterson and Stockmeyer 1973),
    in 4 or 6 products.  ``matrix`` is not modified.
    """
    size = matrix.shape[0]
    work = np.empty((5, size, size))
    norm = _one_norm(matrix)
    if not norm < LARGEST_NORM:
        for a in range(size):
            for b in range(size):
                out[a, b] = np.nan
        return
    q = 3 if norm <= NORM_FOR_DEGREE_9 else 4
    squarings = 0
    while norm > NORM_FOR_DEGREE_16:
        norm *= 0.5
        squarings += 1
    scale = 0.5**squarings
    powers, product = work[:q], work[4]
    _copy(matrix, powers[0])
    for j in range(1, q):
        np.dot(powers[j - 1], matrix, powers[j])
    last = scale ** (q * q) / FACTORIALS[q * q]
    for a in range(size):
        for b in range(size):
            out[a, b] = last * powers[q - 1, a, b]
    _add_taylor_terms(powers, q * (q - 1), scale, out)
    for block in range(q - 2, -1, -1):
        np.dot(out, powers[q - 1], product)
        _copy(product, out)
        _add_taylor_terms(powers, q * block, scale, out)
    for _ in range(squarings):
        np.dot(out, out, product)
        _copy(product, out)
