"""Cells in chunks that may span several rows: inner products, likelihoods and updates of one chunk.

The likelihood is called once per chunk and is vectorised, however few cells a row has.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Matrix, Vector
from manifill.base.jit import compiled_internal
from manifill.kernels.compressed import Compressed
from manifill.likelihoods.likelihood import CompiledLikelihood, Evaluation

__all__ = [
    "CHUNK",
    "Buffers",
    "add_to_columns",
    "add_to_rows",
    "allocate_buffers",
    "evaluate_chunk",
    "evaluate_weighted",
    "major_of",
    "write_products",
    "write_row_products",
]

# Large enough that the likelihood's call costs little, small enough that its buffers stay in the first-level cache.
CHUNK = 512


class Buffers(NamedTuple):
    """Scratch for one chunk, and the gradient in the likelihood's coordinates summed over chunks."""

    x: Vector
    log_density: Vector
    slopes: Vector
    coordinate_slopes: Matrix  # (k, CHUNK)
    coordinate_gradient: Vector  # (k,)


@compiled_internal
def allocate_buffers(likelihood: CompiledLikelihood) -> Buffers:
    """Return scratch for chunks of cells of a likelihood."""
    k = likelihood.coordinates.size
    return Buffers(np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK), np.empty((k, CHUNK)), np.zeros(k))


@compiled_internal
def evaluate_chunk(
    cells: Compressed, begin: int, count: int, likelihood: CompiledLikelihood, buffers: Buffers
) -> float:
    """Return Σ log p(y | x) over the cells, with x in the buffers, and write its derivatives in x there."""
    out = Evaluation(buffers.log_density[:count], buffers.slopes[:count], buffers.coordinate_slopes)
    return likelihood.evaluate(cells.values[begin : begin + count], buffers.x[:count], out)


@compiled_internal
def evaluate_weighted(
    cells: Compressed, begin: int, count: int, likelihood: CompiledLikelihood, weights: Vector, buffers: Buffers
) -> float:
    """Return Σ w log p(y | x) over the cells, and write its derivatives in x; no weights are weights of one.

    Derivatives in the likelihood's coordinates are added to ``buffers.coordinate_gradient``.
    """
    total = evaluate_chunk(cells, begin, count, likelihood, buffers)
    if weights.size > 0:
        total = _apply_weights(weights[begin : begin + count], buffers)
    for c in range(buffers.coordinate_gradient.size):
        for k in range(count):
            weight = weights[begin + k] if weights.size > 0 else 1.0
            buffers.coordinate_gradient[c] += weight * buffers.coordinate_slopes[c, k]
    return total


@compiled_internal
def _apply_weights(weights: Vector, buffers: Buffers) -> float:
    """Multiply slopes by weights, and return Σ w log p; one loop writes and the other sums (see ``base/jit.py``)."""
    for k in range(weights.size):
        buffers.slopes[k] *= weights[k]
    total = 0.0
    for k in range(weights.size):
        total += weights[k] * buffers.log_density[k]
    return total


@compiled_internal
def major_of(cells: Compressed, cell: int, major: int) -> int:
    """Return the major index of a cell, which is at least ``major``."""
    while cells.starts[major + 1] <= cell:
        major += 1
    return major


@compiled_internal
def write_row_products(cells: Compressed, begin: int, count: int, row: Vector, right: Matrix, x: Vector) -> None:
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


@compiled_internal
def write_products(cells: Compressed, begin: int, end: int, major: int, left: Matrix, right: Matrix, x: Vector) -> None:
    """Write left_i · right_j for the cells from ``begin`` to ``end``; the first has the major index ``major``."""
    while cells.starts[major] < end:
        first, last = max(cells.starts[major], begin), min(cells.starts[major + 1], end)
        write_row_products(cells, first, last - first, left[major], right, x[first - begin :])
        major += 1


@compiled_internal
def add_to_rows(
    cells: Compressed, begin: int, end: int, major: int, slopes: Vector, right: Matrix, out: Matrix
) -> None:
    """Add slope · right_j to row i of ``out`` for the same cells."""
    while cells.starts[major] < end:
        first, last = max(cells.starts[major], begin), min(cells.starts[major + 1], end)
        _add_rows(cells, first, last - first, slopes[first - begin :], right, out[major])
        major += 1


@compiled_internal
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


@compiled_internal
def add_to_columns(
    cells: Compressed, begin: int, end: int, major: int, slopes: Vector, left: Matrix, out: Matrix
) -> None:
    """Add slope · left_i to row j of ``out`` for the same cells."""
    while cells.starts[major] < end:
        first, last = max(cells.starts[major], begin), min(cells.starts[major + 1], end)
        _scatter_row(cells, first, last - first, slopes[first - begin :], left[major], out)
        major += 1


@compiled_internal
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
