"""Compiled passes over the observed cells: the only code whose cost grows with their number."""

import numpy as np

from manifill.compiled import compiled
from manifill.problem.likelihoods import Likelihood
from manifill.problem.observations import Compressed
from manifill.types import Matrix, Vector

__all__ = [
    "cell_products",
    "combined_log_likelihood",
    "component_gram",
    "dense_joint_gradient",
    "factor_gradient",
    "joint_gradient",
    "line_log_likelihoods",
    "log_likelihood",
]


# Cells of a line are taken in chunks: all inner products, then all slopes, then all updates, each a loop of its own
# that runs in vector registers.
CHUNK = 64


@compiled
def factor_gradient(
    cells: Compressed, likelihood: Likelihood, precision: float, left: Matrix, right: Matrix, out: Matrix
) -> float:
    """Return precision · Σ log p(y | x) over cells with x = left_i · right_j, and write its gradient in ``left``.

    ``left`` and ``out`` have a row for each line of ``cells``, ``right`` one for each of the other index
    (docs/math.md, eq. 6).
    """
    lines, r = left.shape
    x, slopes = np.empty(CHUNK), np.empty(CHUNK)
    total = 0.0
    for i in range(lines):
        for c in range(r):
            out[i, c] = 0.0
        end = cells.starts[i + 1]
        for begin in range(cells.starts[i], end, CHUNK):
            count = min(CHUNK, end - begin)
            _products(cells, begin, count, left[i], right, x)
            total += _slopes(cells, begin, count, likelihood, x, slopes)
            _add_rows(cells, begin, count, slopes, right, out[i])
        for c in range(r):
            out[i, c] *= precision
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
    width = left.shape[1]
    x, slopes = np.empty(CHUNK), np.empty(CHUNK)
    total = 0.0
    right_gradient[:, :] = 0.0
    for i in range(left.shape[0]):
        for c in range(width):
            left_gradient[i, c] = 0.0
        end = cells.starts[i + 1]
        for begin in range(cells.starts[i], end, CHUNK):
            count = min(CHUNK, end - begin)
            _products(cells, begin, count, left[i], right, x)
            if weights.size == 0:
                total += _slopes(cells, begin, count, likelihood, x, slopes)
            else:
                total += _weighted_slopes(cells, begin, count, likelihood, weights, x, slopes)
            _add_rows(cells, begin, count, slopes, right, left_gradient[i])
            _scatter_row(cells, begin, count, slopes, left[i], right_gradient)
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
    block: Matrix,
) -> float:
    """Do what ``joint_gradient`` does by products of whole matrices, ``block`` rows at a time.

    A missing cell costs as much as an observed one, but far less than a single cell does there.
    """
    x, slopes = np.empty(CHUNK), np.empty(CHUNK)
    part = np.empty(right.shape)
    total = 0.0
    right_gradient[:, :] = 0.0
    for start in range(0, left.shape[0], block.shape[0]):
        count = min(block.shape[0], left.shape[0] - start)
        some, rows = block[:count], left[start : start + count]
        np.dot(rows, right.T, some)
        for i in range(count):
            total += _replace_by_slopes(cells, start + i, likelihood, weights, some[i], x, slopes)
        np.dot(some, right, left_gradient[start : start + count])
        np.dot(some.T, rows, part)
        for j in range(right.shape[0]):
            for c in range(right.shape[1]):
                right_gradient[j, c] += part[j, c]
    return total


@compiled
def _replace_by_slopes(
    cells: Compressed, line: int, likelihood: Likelihood, weights: Vector, row: Vector, x: Vector, slopes: Vector
) -> float:
    """Return Σ w_j log p(y | x) of a line and replace its row of X by the derivatives, 0 where nothing is observed."""
    first, end = cells.starts[line], cells.starts[line + 1]
    total = 0.0
    done = 0
    for begin in range(first, end, CHUNK):
        count = min(CHUNK, end - begin)
        indices = cells.indices[begin : begin + count]
        for k in range(count):
            x[k] = row[indices[k]]
        if weights.size == 0:
            total += _slopes(cells, begin, count, likelihood, x, slopes)
        else:
            total += _weighted_slopes(cells, begin, count, likelihood, weights, x, slopes)
        for k in range(count):  # indices rise along a line
            for j in range(done, indices[k]):
                row[j] = 0.0
            row[indices[k]] = slopes[k]
            done = indices[k] + 1
    for j in range(done, row.size):
        row[j] = 0.0
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
        if weights.size == 0:
            total += _slopes(cells, begin, count, likelihood, x, slopes)
        else:
            total += _weighted_slopes(cells, begin, count, likelihood, weights, x, slopes)
    return total


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
    """Return Σ w_j log p(y | x) over the cells, and write its derivatives in x."""
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
