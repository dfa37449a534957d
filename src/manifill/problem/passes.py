"""Compiled passes over the observed cells: the only code whose cost grows with their number."""

import numpy as np

from manifill.compiled import compiled
from manifill.problem.likelihoods import Likelihood
from manifill.problem.observations import Compressed
from manifill.types import IntVector, Matrix, Vector

__all__ = [
    "cell_products",
    "combined_log_likelihood",
    "component_gram",
    "dense_joint_gradient",
    "factor_gradient",
    "joint_gradient",
    "line_log_likelihoods",
    "log_likelihood",
    "places_in_blocks",
]


# Gradients take cells in chunks, whatever lines they are of: all inner products, then all slopes, then all updates,
# each a loop of its own.  So the likelihood runs in full vector registers, however few cells a line has.
CHUNK = 128


@compiled
def factor_gradient(
    cells: Compressed, likelihood: Likelihood, precision: float, left: Matrix, right: Matrix, out: Matrix
) -> float:
    """Return precision · Σ log p(y | x) over cells with x = left_i · right_j, and write its gradient in ``left``.

    ``left`` and ``out`` have a row for each line of ``cells``, ``right`` one for each of the other index
    (docs/math.md, eq. 6).
    """
    x, slopes = np.empty(CHUNK), np.empty(CHUNK)
    total = 0.0
    out[:, :] = 0.0
    line = 0
    for begin in range(0, cells.values.size, CHUNK):
        end = min(begin + CHUNK, cells.values.size)
        line = _line_of(cells, begin, line)
        _chunk_products(cells, begin, end, line, left, right, x)
        total += _slopes(cells, begin, end - begin, likelihood, x, slopes)
        for k in range(end - begin):
            slopes[k] *= precision
        _chunk_rows(cells, begin, end, line, slopes, right, out)
    return precision * total


@compiled
def joint_gradient(
    cells: Compressed,
    likelihood: Likelihood,
    weights: Vector,
    left: Matrix,
    right: Matrix,
    left_gradient: Matrix,
    right_gradient: Matrix,
) -> float:
    """Return Σ w_j log p(y | x) over cells with x = left_i · right_j, and write its gradients in both factors.

    ``cells`` are by row.  ``weights`` are the noise precisions of the columns, or empty where all are one.
    """
    x, slopes = np.empty(CHUNK), np.empty(CHUNK)
    total = 0.0
    left_gradient[:, :] = 0.0
    right_gradient[:, :] = 0.0
    line = 0
    for begin in range(0, cells.values.size, CHUNK):
        end = min(begin + CHUNK, cells.values.size)
        line = _line_of(cells, begin, line)
        _chunk_products(cells, begin, end, line, left, right, x)
        total += _weighted_slopes(cells, begin, end - begin, likelihood, weights, x, slopes)
        _chunk_rows(cells, begin, end, line, slopes, right, left_gradient)
        _chunk_scatter(cells, begin, end, line, slopes, left, right_gradient)
    return total


@compiled
def dense_joint_gradient(
    cells: Compressed,
    likelihood: Likelihood,
    weights: Vector,
    left: Matrix,
    right: Matrix,
    left_gradient: Matrix,
    right_gradient: Matrix,
    places: IntVector,
    block: Matrix,
) -> float:
    """Do what ``joint_gradient`` does by products of whole matrices, some rows at a time.

    A missing cell costs as much as an observed one, but far less than a single cell does there.  ``places`` says where
    each cell is in its block of rows; ``block`` is scratch, (2, rows, n): rows of X, and the slopes of their cells.
    """
    part, across = np.empty(right.shape), np.ascontiguousarray(right.T)  # BLAS is faster with the copy
    total = 0.0
    right_gradient[:, :] = 0.0
    for start in range(0, left.shape[0], block.shape[1]):
        stop = min(start + block.shape[1], left.shape[0])
        X, G, rows = block[0, : stop - start], block[1, : stop - start], left[start:stop]
        np.dot(rows, across, X)
        G[:, :] = 0.0
        begin, end = cells.starts[start], cells.starts[stop]
        total += _write_slopes(cells, begin, end, likelihood, weights, places, X.reshape(-1), G.reshape(-1))
        np.dot(G, right, left_gradient[start:stop])
        np.dot(G.T, rows, part)
        for j in range(right.shape[0]):
            for c in range(right.shape[1]):
                right_gradient[j, c] += part[j, c]
    return total


def places_in_blocks(cells: Compressed, columns: int, rows: int) -> IntVector:
    """Return where each cell is in a flat block of so many rows, for ``dense_joint_gradient``."""
    return np.asarray(cells.lines % rows * columns + cells.indices, dtype=np.int32)


@compiled
def _write_slopes(
    cells: Compressed,
    first: int,
    last: int,
    likelihood: Likelihood,
    weights: Vector,
    places: IntVector,
    X: Vector,
    G: Vector,
) -> float:
    """Return Σ w_j log p(y | x) over the cells from ``first`` to ``last``, x read from X; write derivatives to G."""
    x, slopes = np.empty(CHUNK), np.empty(CHUNK)
    total = 0.0
    for begin in range(first, last, CHUNK):
        count = min(CHUNK, last - begin)
        for k in range(count):
            x[k] = X[places[begin + k]]
        total += _weighted_slopes(cells, begin, count, likelihood, weights, x, slopes)
        for k in range(count):
            G[places[begin + k]] = slopes[k]
    return total


@compiled
def line_log_likelihoods(cells: Compressed, likelihood: Likelihood, left: Matrix, right: Matrix, out: Vector) -> None:
    """Write Σ log p(y | x) at unit noise for each line of ``cells``; ``left`` has a row for each."""
    x, slopes = np.empty(CHUNK), np.empty(CHUNK)
    for i in range(left.shape[0]):
        out[i] = 0.0
        end = cells.starts[i + 1]
        for begin in range(cells.starts[i], end, CHUNK):
            count = min(CHUNK, end - begin)
            _products(cells, begin, count, left[i], right, x)
            out[i] += _slopes(cells, begin, count, likelihood, x, slopes)


@compiled
def log_likelihood(cells: Compressed, likelihood: Likelihood, left: Matrix, right: Matrix) -> float:
    """Return Σ log p(y | x) at unit noise, x = left_i · right_j; for a likelihood with noise this is −½ SSE."""
    lines = np.empty(left.shape[0])
    line_log_likelihoods(cells, likelihood, left, right, lines)
    return float(lines.sum())


@compiled
def cell_products(cells: Compressed, left: Matrix, right: Matrix, x: Vector) -> None:
    """Write x = left_i · right_j for every cell; ``left`` has a row for each line."""
    for i in range(left.shape[0]):
        begin, end = cells.starts[i], cells.starts[i + 1]
        _products(cells, begin, end - begin, left[i], right, x[begin:end])


@compiled
def combined_log_likelihood(
    cells: Compressed,
    likelihood: Likelihood,
    weights: Vector,
    base: Vector,
    first: Vector,
    second: Vector,
    p: float,
    q: float,
) -> float:
    """Return Σ w_j log p(y | x), x = base + p · first + q · second; ``weights`` as for ``joint_gradient``."""
    x, slopes = np.empty(CHUNK), np.empty(CHUNK)
    total = 0.0
    for begin in range(0, base.size, CHUNK):
        count = min(CHUNK, base.size - begin)
        for k in range(count):
            x[k] = base[begin + k] + p * first[begin + k] + q * second[begin + k]
        total += _weighted_slopes(cells, begin, count, likelihood, weights, x, slopes)
    return total


@compiled
def _line_of(cells: Compressed, cell: int, line: int) -> int:
    """Return the line of a cell, which is ``line`` or a later one."""
    while cells.starts[line + 1] <= cell:
        line += 1
    return line


@compiled
def _chunk_products(cells: Compressed, begin: int, end: int, line: int, left: Matrix, right: Matrix, x: Vector) -> None:
    """Write left_i · right_j for the cells from ``begin`` to ``end``, the first of which is of line ``line``."""
    while cells.starts[line] < end:
        first, last = max(cells.starts[line], begin), min(cells.starts[line + 1], end)
        _products(cells, first, last - first, left[line], right, x[first - begin :])
        line += 1


@compiled
def _chunk_rows(cells: Compressed, begin: int, end: int, line: int, slopes: Vector, right: Matrix, out: Matrix) -> None:
    """Add slope · right_j to row i of ``out`` for the same cells."""
    while cells.starts[line] < end:
        first, last = max(cells.starts[line], begin), min(cells.starts[line + 1], end)
        _add_rows(cells, first, last - first, slopes[first - begin :], right, out[line])
        line += 1


@compiled
def _chunk_scatter(
    cells: Compressed, begin: int, end: int, line: int, slopes: Vector, left: Matrix, out: Matrix
) -> None:
    """Add slope · left_i to row j of ``out`` for the same cells."""
    while cells.starts[line] < end:
        first, last = max(cells.starts[line], begin), min(cells.starts[line + 1], end)
        _scatter_row(cells, first, last - first, slopes[first - begin :], left[line], out)
        line += 1


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
def _slopes(cells: Compressed, begin: int, count: int, likelihood: Likelihood, x: Vector, slopes: Vector) -> float:
    """Return Σ log p(y | x) over the cells, and write its derivatives in x."""
    values = cells.values[begin : begin + count]
    total = 0.0
    for k in range(count):
        value, slopes[k] = likelihood.evaluate(values[k], x[k])
        total += value
    return total


@compiled
def _weighted_slopes(
    cells: Compressed, begin: int, count: int, likelihood: Likelihood, weights: Vector, x: Vector, slopes: Vector
) -> float:
    """Return Σ w_j log p(y | x) over the cells, and write its derivatives in x; no weights are weights of one."""
    if weights.size == 0:
        return _slopes(cells, begin, count, likelihood, x, slopes)
    values, indices = cells.values[begin : begin + count], cells.indices[begin : begin + count]
    total = 0.0
    for k in range(count):
        value, slope = likelihood.evaluate(values[k], x[k])
        weight = weights[indices[k]]
        slopes[k] = weight * slope
        total += weight * value
    return total


@compiled
def _scatter_row(cells: Compressed, begin: int, count: int, slopes: Vector, row: Vector, out: Matrix) -> None:
    """Add slope · row to row j of ``out`` for each of the cells, four at a time: they share the loads of ``row``.

    No column occurs twice in a line, so the four rows of ``out`` are different ones.
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
    """Write MᵀM and Mᵀ(y − M·scales), M the matrix with a row left_i ∘ right_j for each cell (docs/math.md, eq. 12)."""
    lines, r = left.shape
    line_gram = np.empty((r, r))
    line_moments = np.empty(r)
    moments[:] = 0.0
    gram[:, :] = 0.0
    for i in range(lines):
        line_moments[:] = 0.0
        line_gram[:, :] = 0.0
        for k in range(cells.starts[i], cells.starts[i + 1]):
            j, x = cells.indices[k], 0.0
            for a in range(r):
                x += left[i, a] * scales[a] * right[j, a]
            residual = cells.values[k] - x
            for a in range(r):
                v = right[j, a]
                line_moments[a] += residual * v
                for b in range(r):
                    line_gram[a, b] += v * right[j, b]
        for a in range(r):
            u = left[i, a]
            moments[a] += u * line_moments[a]
            for b in range(r):
                gram[a, b] += u * left[i, b] * line_gram[a, b]
