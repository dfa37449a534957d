"""Exact draws of the rows of a Gaussian factor, which are independent given the other factor."""

import numpy as np

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.jit import compiled, compiled_internal
from manifill.kernels.compressed import Compressed
from manifill.kernels.row_random import draw_key, fill_normal_row

__all__ = ["draw_rows"]

# A row with this many times fewer cells than components is drawn by equations for its cells.
FEW = 2


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
    key, sds = draw_key(rng), 1.0 / np.sqrt(prior_precisions)
    P, h, z = np.empty((r, r)), np.empty(r), np.empty(r + r // FEW)
    F, G, v = np.empty((r // FEW, r)), np.empty((r // FEW, r // FEW)), np.empty(r // FEW)
    for i in range(out.shape[0]):
        n = cells.starts[i + 1] - cells.starts[i]
        if FEW * n <= r:
            fill_normal_row(key, i, z[: r + n])
            _draw_by_cells(cells, i, weights, precision, sds, shift, other, z[: r + n], F[:n], G[:n, :n], v[:n], out[i])
            continue
        _accumulate(cells, i, weights, shift, other, P, h)
        for a in range(r):
            h[a] *= precision
            for b in range(a + 1):
                P[a, b] *= precision
            P[a, a] += prior_precisions[a]
        fill_normal_row(key, i, z[:r])
        _draw_gaussian(P, h, z[:r], out[i])


@compiled_internal
def _draw_by_cells(
    cells: Compressed,
    row: int,
    weights: Vector,
    precision: float,
    sds: Vector,
    shift: Vector,
    other: Matrix,
    z: Vector,
    F: Matrix,
    G: Matrix,
    v: Vector,
    out: Vector,
) -> None:
    """Draw a row with n cells, fewer than components, from the same conditional, solving n equations instead of r.

    A draw from the prior, of the row and of its cells, is corrected by what the cells are (Bhattacharya, Chakraborty
    and Mallick 2016).  With S the prior standard deviations, W the precisions of the cells and F the rows W^½ b S, it
    is S (z + Fᵀ q), where (F Fᵀ + I) q = W^½ (y − shift) − F z − ε; z and ε are in ``z``, (r + n,).  A cell may have
    the precision zero.  ``F``, ``G`` and ``v`` are scratch.
    """
    n, r = F.shape
    begin = cells.starts[row]
    for k in range(n):
        root = np.sqrt(precision * (weights[begin + k] if weights.size > 0 else 1.0))
        b = other[cells.indices[begin + k]]
        for a in range(r):
            F[k, a] = root * b[a] * sds[a]
        prior = 0.0
        for a in range(r):
            prior += F[k, a] * z[a]
        v[k] = root * _value(cells, begin + k, shift) - prior - z[r + k]
        for other_cell in range(k + 1):
            total = 1.0 if other_cell == k else 0.0
            for a in range(r):
                total += F[k, a] * F[other_cell, a]
            G[k, other_cell] = total
    _cholesky(G)
    _solve_lower(G, v)
    _solve_upper(G, v)
    for a in range(r):
        out[a] = z[a]
    for k in range(n):
        for a in range(r):
            out[a] += F[k, a] * v[k]
    for a in range(r):
        out[a] *= sds[a]


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
    _cholesky(P)
    _solve_lower(P, h)
    for a in range(h.size):
        h[a] += z[a]
    _solve_upper(P, h)
    for a in range(h.size):
        out[a] = h[a]


@compiled_internal
def _cholesky(P: Matrix) -> None:
    """Overwrite the lower triangle of a positive definite matrix with L, P = LLᵀ."""
    for a in range(P.shape[0]):
        for b in range(a + 1):
            total = P[a, b]
            for c in range(b):
                total -= P[a, c] * P[b, c]
            P[a, b] = np.sqrt(total) if a == b else total / P[b, b]


@compiled_internal
def _solve_lower(L: Matrix, h: Vector) -> None:
    """Overwrite h with L⁻¹h."""
    for a in range(h.size):
        total = h[a]
        for c in range(a):
            total -= L[a, c] * h[c]
        h[a] = total / L[a, a]


@compiled_internal
def _solve_upper(L: Matrix, h: Vector) -> None:
    """Overwrite h with L⁻ᵀh."""
    for a in range(h.size - 1, -1, -1):
        h[a] /= L[a, a]
        for c in range(a):
            h[c] -= L[a, c] * h[a]
