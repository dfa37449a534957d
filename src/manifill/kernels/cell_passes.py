"""Compiled passes over the observed cells.

``left`` and ``right`` are the factors of the completed matrix: x = left_i · right_j at the cell (i, j).  Gradients take
cells in chunks: all inner products, then all slopes, then all updates, in separate loops.
"""

import numpy as np

from manifill.base.arrays import IntVector, Matrix, Vector
from manifill.base.jit import compiled, compiled_internal
from manifill.kernels.cell_chunks import (
    CHUNK,
    Buffers,
    add_to_columns,
    add_to_rows,
    allocate_buffers,
    evaluate_chunk,
    evaluate_weighted,
    major_of,
    write_products,
    write_row_products,
)
from manifill.kernels.compressed import Compressed
from manifill.likelihoods.likelihood import CompiledLikelihood

__all__ = [
    "cell_log_likelihoods",
    "component_gram",
    "dense_joint_gradient",
    "factor_gradient",
    "joint_gradient",
    "log_likelihood",
    "places_in_blocks",
    "row_log_likelihoods",
]


@compiled
def factor_gradient(
    cells: Compressed, likelihood: CompiledLikelihood, precision: float, left: Matrix, right: Matrix, out: Matrix
) -> float:
    """Return precision · Σ log p(y | x) over cells with x = left_i · right_j, and write its gradient in ``left``.

    ``left`` and ``out`` have one row per major index of ``cells``, ``right`` has one per minor index (docs/math.md, eq.
    6).
    """
    buffers = allocate_buffers(likelihood)
    total = 0.0
    out[:, :] = 0.0
    major = 0
    for begin in range(0, cells.values.size, CHUNK):
        end = min(begin + CHUNK, cells.values.size)
        major = major_of(cells, begin, major)
        write_products(cells, begin, end, major, left, right, buffers.x)
        total += evaluate_chunk(cells, begin, end - begin, likelihood, buffers)
        for k in range(end - begin):
            buffers.slopes[k] *= precision
        add_to_rows(cells, begin, end, major, buffers.slopes, right, out)
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
    """Return Σ w log p(y | x) over all cells, and write its gradients in both factors and in the coordinates.

    ``cells`` are by row.  ``weights`` has one entry per cell, or none if all are one.  ``places`` and
    ``block`` are not used; they are there because ``dense_joint_gradient`` has the same signature.
    """
    buffers = allocate_buffers(likelihood)
    total = 0.0
    left_gradient[:, :] = 0.0
    right_gradient[:, :] = 0.0
    major = 0
    for begin in range(0, cells.values.size, CHUNK):
        end = min(begin + CHUNK, cells.values.size)
        major = major_of(cells, begin, major)
        write_products(cells, begin, end, major, left, right, buffers.x)
        total += evaluate_weighted(cells, begin, end - begin, likelihood, weights, buffers)
        add_to_rows(cells, begin, end, major, buffers.slopes, right, left_gradient)
        add_to_columns(cells, begin, end, major, buffers.slopes, left, right_gradient)
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
    buffers = allocate_buffers(likelihood)
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


@compiled_internal
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
    """Return Σ w log p(y | x) over the cells from ``first`` to ``last``, x read from X; write derivatives to G."""
    total = 0.0
    for begin in range(first, last, CHUNK):
        count = min(CHUNK, last - begin)
        at = places[begin : begin + count]
        for k in range(at.size):
            buffers.x[k] = X[at[k]]
        total += evaluate_weighted(cells, begin, count, likelihood, weights, buffers)
        for k in range(at.size):
            G[at[k]] = buffers.slopes[k]
    return total


@compiled
def row_log_likelihoods(
    cells: Compressed, likelihood: CompiledLikelihood, left: Matrix, right: Matrix, out: Vector
) -> None:
    """Write Σ log p(y | x) at unit noise for each row (or column) of ``cells``; ``left`` has one row for each."""
    buffers = allocate_buffers(likelihood)
    for i in range(left.shape[0]):
        out[i] = 0.0
        end = cells.starts[i + 1]
        for begin in range(cells.starts[i], end, CHUNK):
            count = min(CHUNK, end - begin)
            write_row_products(cells, begin, count, left[i], right, buffers.x)
            out[i] += evaluate_chunk(cells, begin, count, likelihood, buffers)


@compiled
def log_likelihood(cells: Compressed, likelihood: CompiledLikelihood, left: Matrix, right: Matrix) -> float:
    """Return Σ log p(y | x) at unit noise, x = left_i · right_j; for a likelihood with noise this is −½ SSE."""
    rows = np.empty(left.shape[0])
    row_log_likelihoods(cells, likelihood, left, right, rows)
    return float(rows.sum())


@compiled
def cell_log_likelihoods(
    cells: Compressed, likelihood: CompiledLikelihood, left: Matrix, right: Matrix, out: Vector
) -> None:
    """Write log p(y | x) at unit noise for each cell; ``left`` has one row per major index."""
    buffers = allocate_buffers(likelihood)
    major = 0
    for begin in range(0, cells.values.size, CHUNK):
        end = min(begin + CHUNK, cells.values.size)
        major = major_of(cells, begin, major)
        write_products(cells, begin, end, major, left, right, buffers.x)
        evaluate_chunk(cells, begin, end - begin, likelihood, buffers)
        out[begin:end] = buffers.log_density[: end - begin]


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
