"""Compiled passes over the observed cells.

``left`` and ``right`` are the factors of the completed matrix: x = left_i · right_j at the cell (i, j).
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import IntVector, Matrix, Vector
from manifill.base.jit import compiled
from manifill.kernels.compressed import Compressed
from manifill.likelihoods.likelihood import CompiledLikelihood, Evaluation

__all__ = [
    "cell_products",
    "combine_cells",
    "combined_log_likelihood",
    "component_gram",
    "dense_joint_gradient",
    "factor_gradient",
    "joint_gradient",
    "log_likelihood",
    "places_in_blocks",
    "row_log_likelihoods",
    "split_effects",
    "split_rotation",
]


# Gradients process cells in chunks that may span several rows: all inner products, then all slopes, then all updates,
# in separate loops.  The likelihood is called once per chunk and is vectorised, however few cells a row has.
CHUNK = 128


class Buffers(NamedTuple):
    """Scratch for one chunk, and the gradient in the likelihood's coordinates summed over chunks."""

    x: Vector
    log_density: Vector
    slopes: Vector
    coordinate_slopes: Matrix  # (k, CHUNK)
    coordinate_gradient: Vector  # (k,)


@compiled
def _buffers(likelihood: CompiledLikelihood) -> Buffers:
    k = likelihood.coordinates.size
    return Buffers(np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK), np.empty((k, CHUNK)), np.zeros(k))


@compiled
def factor_gradient(
    cells: Compressed, likelihood: CompiledLikelihood, precision: float, left: Matrix, right: Matrix, out: Matrix
) -> float:
    """Return precision · Σ log p(y | x) over cells with x = left_i · right_j, and write its gradient in ``left``.

    ``left`` and ``out`` have one row per major index of ``cells``, ``right`` has one per minor index (docs/math.md, eq.
    6).
    """
    buffers = _buffers(likelihood)
    total = 0.0
    out[:, :] = 0.0
    major = 0
    for begin in range(0, cells.values.size, CHUNK):
        end = min(begin + CHUNK, cells.values.size)
        major = _major_of(cells, begin, major)
        _chunk_products(cells, begin, end, major, left, right, buffers.x)
        total += _evaluate(cells, begin, end - begin, likelihood, buffers)
        for k in range(end - begin):
            buffers.slopes[k] *= precision
        _chunk_rows(cells, begin, end, major, buffers.slopes, right, out)
    return precision * total


@compiled
def joint_gradient(
    cells: Compressed,
    likelihood: CompiledLikelihood,
    weights: Vector,
    left: Matrix,
    right: Matrix,
    left_gradient: Matrix,
    right_gradient: Matrix,
    coordinate_gradient: Vector,
    places: IntVector,
    block: Matrix,
) -> float:
    """Return Σ w_j log p(y | x) over all cells, and write its gradients in both factors and in the coordinates.

    ``cells`` are by row.  ``weights`` are the noise precisions of the columns, or empty if all are one.  ``places`` and
    ``block`` are not used; they are there because ``dense_joint_gradient`` has the same signature.
    """
    buffers = _buffers(likelihood)
    total = 0.0
    left_gradient[:, :] = 0.0
    right_gradient[:, :] = 0.0
    major = 0
    for begin in range(0, cells.values.size, CHUNK):
        end = min(begin + CHUNK, cells.values.size)
        major = _major_of(cells, begin, major)
        _chunk_products(cells, begin, end, major, left, right, buffers.x)
        total += _evaluate_weighted(cells, begin, end - begin, likelihood, weights, buffers)
        _chunk_rows(cells, begin, end, major, buffers.slopes, right, left_gradient)
        _chunk_scatter(cells, begin, end, major, buffers.slopes, left, right_gradient)
    coordinate_gradient[:] = buffers.coordinate_gradient
    return total


@compiled
def dense_joint_gradient(
    cells: Compressed,
    likelihood: CompiledLikelihood,
    weights: Vector,
    left: Matrix,
    right: Matrix,
    left_gradient: Matrix,
    right_gradient: Matrix,
    coordinate_gradient: Vector,
    places: IntVector,
    block: Matrix,
) -> float:
    """Compute the same as ``joint_gradient`` by dense matrix products, a block of rows at a time.

    A missing cell costs as much as an observed one, but far less than an observed one in the sparse pass.  ``places``
    holds the position of each cell in its flattened block of rows; ``block`` is scratch, (2, rows, n): rows of X, and
    the slopes of their cells.
    """
    part, across = np.empty(right.shape), np.ascontiguousarray(right.T)  # BLAS is faster on the copy
    buffers = _buffers(likelihood)
    total = 0.0
    right_gradient[:, :] = 0.0
    for start in range(0, left.shape[0], block.shape[1]):
        stop = min(start + block.shape[1], left.shape[0])
        X, G, rows = block[0, : stop - start], block[1, : stop - start], left[start:stop]
        np.dot(rows, across, X)
        G[:, :] = 0.0
        begin, end = cells.starts[start], cells.starts[stop]
        total += _write_slopes(cells, begin, end, likelihood, weights, places, buffers, X.reshape(-1), G.reshape(-1))
        np.dot(G, right, left_gradient[start:stop])
        np.dot(G.T, rows, part)
        for j in range(right.shape[0]):
            for c in range(right.shape[1]):
                right_gradient[j, c] += part[j, c]
    coordinate_gradient[:] = buffers.coordinate_gradient
    return total


def places_in_blocks(cells: Compressed, columns: int, rows: int) -> IntVector:
    """Return the position of each cell in its flattened block of ``rows`` rows, for ``dense_joint_gradient``."""
    return np.asarray(cells.major_indices % rows * columns + cells.indices, dtype=np.int32)


@compiled
def _write_slopes(
    cells: Compressed,
    first: int,
    last: int,
    likelihood: CompiledLikelihood,
    weights: Vector,
    places: IntVector,
    buffers: Buffers,
    X: Vector,
    G: Vector,
) -> float:
    """Return Σ w_j log p(y | x) over the cells from ``first`` to ``last``, x read from X; write derivatives to G."""
    total = 0.0
    for begin in range(first, last, CHUNK):
        count = min(CHUNK, last - begin)
        for k in range(count):
            buffers.x[k] = X[places[begin + k]]
        total += _evaluate_weighted(cells, begin, count, likelihood, weights, buffers)
        for k in range(count):
            G[places[begin + k]] = buffers.slopes[k]
    return total


@compiled
def row_log_likelihoods(
    cells: Compressed, likelihood: CompiledLikelihood, left: Matrix, right: Matrix, out: Vector
) -> None:
    """Write Σ log p(y | x) at unit noise for each row (or column) of ``cells``; ``left`` has one row for each."""
    buffers = _buffers(likelihood)
    for i in range(left.shape[0]):
        out[i] = 0.0
        end = cells.starts[i + 1]
        for begin in range(cells.starts[i], end, CHUNK):
            count = min(CHUNK, end - begin)
            _products(cells, begin, count, left[i], right, buffers.x)
            out[i] += _evaluate(cells, begin, count, likelihood, buffers)


@compiled
def log_likelihood(cells: Compressed, likelihood: CompiledLikelihood, left: Matrix, right: Matrix) -> float:
    """Return Σ log p(y | x) at unit noise, x = left_i · right_j; for a likelihood with noise this is −½ SSE."""
    rows = np.empty(left.shape[0])
    row_log_likelihoods(cells, likelihood, left, right, rows)
    return float(rows.sum())


@compiled
def cell_products(cells: Compressed, left: Matrix, right: Matrix, x: Vector) -> None:
    """Write x = left_i · right_j for every cell; ``left`` has one row per major index."""
    for i in range(left.shape[0]):
        begin, end = cells.starts[i], cells.starts[i + 1]
        _products(cells, begin, end - begin, left[i], right, x[begin:end])


@compiled
def combined_log_likelihood(
    cells: Compressed,
    likelihood: CompiledLikelihood,
    weights: Vector,
    base: Vector,
    first: Vector,
    second: Vector,
    p: float,
    q: float,
) -> float:
    """Return Σ w_j log p(y | x), x = base + p · first + q · second; ``weights`` as for ``joint_gradient``."""
    buffers = _buffers(likelihood)
    total = 0.0
    for begin in range(0, base.size, CHUNK):
        count = min(CHUNK, base.size - begin)
        for k in range(count):
            buffers.x[k] = base[begin + k] + p * first[begin + k] + q * second[begin + k]
        total += _evaluate_weighted(cells, begin, count, likelihood, weights, buffers)
    return total


@compiled
def combine_cells(base: Vector, first: Vector, second: Vector, p: float, q: float) -> None:
    """Add p · first + q · second to ``base``, one entry per cell."""
    for k in range(base.size):
        base[k] += p * first[k] + q * second[k]


@compiled
def split_rotation(
    cells: Compressed, U: Matrix, V: Matrix, a: int, b: int, half_gap: float, x: Vector, along: Vector, across: Vector
) -> None:
    """Split x for a rotation of components a and b by θ: x = base + cos 2θ · along + sin 2θ · across.

    ``x`` is given at θ = 0 and is replaced by base.  ``half_gap`` is half the difference of the two singular values.
    """
    for i in range(U.shape[0]):
        first, second = half_gap * U[i, a], half_gap * U[i, b]
        for k in range(cells.starts[i], cells.starts[i + 1]):
            j = cells.indices[k]
            along[k] = first * V[j, a] - second * V[j, b]
            across[k] = first * V[j, b] + second * V[j, a]
            x[k] -= along[k]


@compiled
def split_effects(cells: Compressed, row: Vector, column: Vector, x: Vector, rows: Vector, columns: Vector) -> None:
    """Write the row and the column effect of every cell, and subtract both from ``x``; ``cells`` are by row."""
    for i in range(row.size):
        for k in range(cells.starts[i], cells.starts[i + 1]):
            rows[k], columns[k] = row[i], column[cells.indices[k]]
            x[k] -= rows[k] + columns[k]


@compiled
def _major_of(cells: Compressed, cell: int, major: int) -> int:
    """Return the major index of a cell, which is at least ``major``."""
    while cells.starts[major + 1] <= cell:
        major += 1
    return major


@compiled
def _chunk_products(
    cells: Compressed, begin: int, end: int, major: int, left: Matrix, right: Matrix, x: Vector
) -> None:
    """Write left_i · right_j for the cells from ``begin`` to ``end``; the first has the major index ``major``."""
    while cells.starts[major] < end:
        first, last = max(cells.starts[major], begin), min(cells.starts[major + 1], end)
        _products(cells, first, last - first, left[major], right, x[first - begin :])
        major += 1


@compiled
def _chunk_rows(
    cells: Compressed, begin: int, end: int, major: int, slopes: Vector, right: Matrix, out: Matrix
) -> None:
    """Add slope · right_j to row i of ``out`` for the same cells."""
    while cells.starts[major] < end:
        first, last = max(cells.starts[major], begin), min(cells.starts[major + 1], end)
        _add_rows(cells, first, last - first, slopes[first - begin :], right, out[major])
        major += 1


@compiled
def _chunk_scatter(
    cells: Compressed, begin: int, end: int, major: int, slopes: Vector, left: Matrix, out: Matrix
) -> None:
    """Add slope · left_i to row j of ``out`` for the same cells."""
    while cells.starts[major] < end:
        first, last = max(cells.starts[major], begin), min(cells.starts[major + 1], end)
        _scatter_row(cells, first, last - first, slopes[first - begin :], left[major], out)
        major += 1


@compiled
def _products(cells: Compressed, begin: int, count: int, row: Vector, right: Matrix, x: Vector) -> None:
    """Write row · right_j for the ``count`` cells from ``begin``, four at a time: they share the loads of ``row``."""
    indices = cells.indices[begin : begin + count]
    whole = count // 4 * 4
    for k in range(0, whole, 4):
        j0, j1, j2, j3 = indices[k], indices[k + 1], indices[k + 2], indices[k + 3]
        x0, x1, x2, x3 = 0.0, 0.0, 0.0, 0.0
        for c in range(row.size):
            a = row[c]
            x0 += a * right[j0, c]
            x1 += a * right[j1, c]
            x2 += a * right[j2, c]
            x3 += a * right[j3, c]
        x[k], x[k + 1], x[k + 2], x[k + 3] = x0, x1, x2, x3
    for k in range(whole, count):
        total = 0.0
        for c in range(row.size):
            total += row[c] * right[indices[k], c]
        x[k] = total


@compiled
def _evaluate(cells: Compressed, begin: int, count: int, likelihood: CompiledLikelihood, buffers: Buffers) -> float:
    """Return Σ log p(y | x) over the cells, with x in the buffers, and write its derivatives in x there."""
    out = Evaluation(buffers.log_density[:count], buffers.slopes[:count], buffers.coordinate_slopes)
    return likelihood.evaluate(cells.values[begin : begin + count], buffers.x[:count], out)


@compiled
def _evaluate_weighted(
    cells: Compressed, begin: int, count: int, likelihood: CompiledLikelihood, weights: Vector, buffers: Buffers
) -> float:
    """Return Σ w_j log p(y | x) over the cells, and write its derivatives in x; no weights are weights of one.

    Derivatives in the likelihood's coordinates are added to ``buffers.coordinate_gradient``.
    """
    total = _evaluate(cells, begin, count, likelihood, buffers)
    indices = cells.indices[begin : begin + count]
    if weights.size > 0:
        total = 0.0
        for k in range(count):
            weight = weights[indices[k]]
            buffers.slopes[k] *= weight
            total += weight * buffers.log_density[k]
    for c in range(buffers.coordinate_gradient.size):
        for k in range(count):
            weight = weights[indices[k]] if weights.size > 0 else 1.0
            buffers.coordinate_gradient[c] += weight * buffers.coordinate_slopes[c, k]
    return total


@compiled
def _scatter_row(cells: Compressed, begin: int, count: int, slopes: Vector, row: Vector, out: Matrix) -> None:
    """Add slope · row to row j of ``out`` for each of the cells, four at a time: they share the loads of ``row``.

    Minor indices are distinct within a row, so the four rows of ``out`` are distinct.
    """
    indices = cells.indices[begin : begin + count]
    whole = count // 4 * 4
    for k in range(0, whole, 4):
        j0, j1, j2, j3 = indices[k], indices[k + 1], indices[k + 2], indices[k + 3]
        d0, d1, d2, d3 = slopes[k], slopes[k + 1], slopes[k + 2], slopes[k + 3]
        for c in range(row.size):
            a = row[c]
            out[j0, c] += d0 * a
            out[j1, c] += d1 * a
            out[j2, c] += d2 * a
            out[j3, c] += d3 * a
    for k in range(whole, count):
        for c in range(row.size):
            out[indices[k], c] += slopes[k] * row[c]


@compiled
def _add_rows(cells: Compressed, begin: int, count: int, slopes: Vector, right: Matrix, out: Vector) -> None:
    """Add Σ slope · right_j over the cells to ``out``, four at a time: they share the loads of ``out``."""
    indices = cells.indices[begin : begin + count]
    whole = count // 4 * 4
    for k in range(0, whole, 4):
        j0, j1, j2, j3 = indices[k], indices[k + 1], indices[k + 2], indices[k + 3]
        d0, d1, d2, d3 = slopes[k], slopes[k + 1], slopes[k + 2], slopes[k + 3]
        for c in range(out.size):
            out[c] += (d0 * right[j0, c] + d1 * right[j1, c]) + (d2 * right[j2, c] + d3 * right[j3, c])
    for k in range(whole, count):
        for c in range(out.size):
            out[c] += slopes[k] * right[indices[k], c]


@compiled
def component_gram(
    cells: Compressed, left: Matrix, right: Matrix, scales: Vector, gram: Matrix, moments: Vector
) -> None:
    """Write MᵀM and Mᵀ(y − M·scales), M the matrix with one row left_i ∘ right_j per cell (docs/math.md, eq. 12)."""
    rows, r = left.shape
    row_gram = np.empty((r, r))
    row_moments = np.empty(r)
    moments[:] = 0.0
    gram[:, :] = 0.0
    for i in range(rows):
        row_moments[:] = 0.0
        row_gram[:, :] = 0.0
        for k in range(cells.starts[i], cells.starts[i + 1]):
            j, x = cells.indices[k], 0.0
            for a in range(r):
                x += left[i, a] * scales[a] * right[j, a]
            residual = cells.values[k] - x
            for a in range(r):
                v = right[j, a]
                row_moments[a] += residual * v
                for b in range(r):
                    row_gram[a, b] += v * right[j, b]
        for a in range(r):
            u = left[i, a]
            moments[a] += u * row_moments[a]
            for b in range(r):
                gram[a, b] += u * left[i, b] * row_gram[a, b]
