"""Exact draws of the rows of a Gaussian factor, which are independent given the other factor."""

import numpy as np

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.jit import compiled, compiled_internal
from manifill.kernels.compressed import Compressed
from manifill.kernels.row_random import draw_key, fill_normal_row

__all__ = ["draw_rows"]


@compiled
def draw_rows(
    rng: Generator,
    cells: Compressed,
    weights: Vector,
    precision: float,
    prior_precisions: Vector,
    shift: Vector,
    other: Matrix,
    out: Matrix,
) -> None:
    """Draw each row of ``out`` from its conditional N(P⁻¹h, P⁻¹), P = T + γ Σ w b bᵀ, h = γ Σ w (y − shift_j) b.

    ``other`` holds the rows b, and T is the diagonal matrix of the prior precisions.  Empty ``weights`` are one, and an
    empty ``shift`` is zero.  A row without cells is drawn from the prior.
    """
    r = other.shape[1]
    P, h, z = np.empty((r, r)), np.empty(r), np.empty(r)
    key = draw_key(rng)
    for i in range(out.shape[0]):
        _accumulate(cells, i, weights, shift, other, P, h)
        for a in range(r):
            h[a] *= precision
            for b in range(a + 1):
                P[a, b] *= precision
            P[a, a] += prior_precisions[a]
        fill_normal_row(key, i, z)
        _draw_gaussian(P, h, z, out[i])


@compiled_internal
def _accumulate(
    cells: Compressed, row: int, weights: Vector, shift: Vector, other: Matrix, P: Matrix, h: Vector
) -> None:
    """Write Σ w b bᵀ (lower triangle) and Σ w (y − shift) b over the cells of a row, four cells at a time."""
    r = other.shape[1]
    indices = cells.indices
    for a in range(r):
        h[a] = 0.0
        for b in range(a + 1):
            P[a, b] = 0.0
    begin, end = cells.starts[row], cells.starts[row + 1]
    whole = begin + (end - begin) // 4 * 4
    for k in range(begin, whole, 4):
        j0, j1, j2, j3 = indices[k], indices[k + 1], indices[k + 2], indices[k + 3]
        y0, y1 = _value(cells, k, shift), _value(cells, k + 1, shift)
        y2, y3 = _value(cells, k + 2, shift), _value(cells, k + 3, shift)
        w0, w1, w2, w3 = 1.0, 1.0, 1.0, 1.0
        if weights.size > 0:
            w0, w1, w2, w3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for a in range(r):
            b0, b1, b2, b3 = w0 * other[j0, a], w1 * other[j1, a], w2 * other[j2, a], w3 * other[j3, a]
            h[a] += y0 * b0 + y1 * b1 + y2 * b2 + y3 * b3
            for b in range(a + 1):
                P[a, b] += b0 * other[j0, b] + b1 * other[j1, b] + b2 * other[j2, b] + b3 * other[j3, b]
    for k in range(whole, end):
        j, y = indices[k], _value(cells, k, shift)
        weight = weights[k] if weights.size > 0 else 1.0
        for a in range(r):
            weighted = weight * other[j, a]
            h[a] += y * weighted
            for b in range(a + 1):
                P[a, b] += weighted * other[j, b]


@compiled_internal
def _value(cells: Compressed, cell: int, shift: Vector) -> float:
    """Return the value of a cell less the shift of its minor index."""
    return float(cells.values[cell] - (shift[cells.indices[cell]] if shift.size > 0 else 0.0))


@compiled_internal
def _draw_gaussian(P: Matrix, h: Vector, z: Vector, out: Vector) -> None:
    """Draw from N(P⁻¹h, P⁻¹) as L⁻ᵀ(L⁻¹h + z), P = LLᵀ, z standard normal; ``P`` and ``h`` are overwritten."""
    r = h.size
    for a in range(r):
        for b in range(a + 1):
            total = P[a, b]
            for c in range(b):
                total -= P[a, c] * P[b, c]
            P[a, b] = np.sqrt(total) if a == b else total / P[b, b]
        total = h[a]
        for c in range(a):
            total -= P[a, c] * h[c]
        h[a] = total / P[a, a]
    for a in range(r):
        h[a] += z[a]
    for a in range(r - 1, -1, -1):
        value = h[a] / P[a, a]
        out[a] = value
        for c in range(a):
            h[c] -= P[a, c] * value
