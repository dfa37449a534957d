"""X at the observed cells along a curve, x = base + p · first + q · second, for moves in one dimension.

An evaluation at another point of the curve needs no inner products, only one likelihood per cell.
"""

from manifill.base.arrays import Matrix, Vector
from manifill.base.jit import compiled_internal
from manifill.kernels.cell_chunks import CHUNK, allocate_buffers, evaluate_weighted, write_row_products
from manifill.kernels.compressed import Compressed
from manifill.likelihoods.likelihood import CompiledLikelihood

__all__ = ["cell_products", "combine_cells", "combined_log_likelihood", "split_effects", "split_rotation"]


@compiled_internal
def cell_products(cells: Compressed, left: Matrix, right: Matrix, x: Vector) -> None:
    """Write x = left_i · right_j for every cell; ``left`` has one row per major index."""
    for i in range(left.shape[0]):
        begin, end = cells.starts[i], cells.starts[i + 1]
        write_row_products(cells, begin, end - begin, left[i], right, x[begin:end])


@compiled_internal
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
    """Return Σ w log p(y | x), x = base + p · first + q · second; ``weights`` as for ``joint_gradient``."""
    buffers = allocate_buffers(likelihood)
    total = 0.0
    for begin in range(0, base.size, CHUNK):
        end = min(begin + CHUNK, base.size)
        _write_combined(base[begin:end], first[begin:end], second[begin:end], p, q, buffers.x)
        total += evaluate_weighted(cells, begin, end - begin, likelihood, weights, buffers)
    return total


@compiled_internal
def _write_combined(base: Vector, first: Vector, second: Vector, p: float, q: float, x: Vector) -> None:
    """Write base + p · first + q · second."""
    for k in range(base.size):
        x[k] = base[k] + p * first[k] + q * second[k]


@compiled_internal
def combine_cells(base: Vector, first: Vector, second: Vector, p: float, q: float) -> None:
    """Add p · first + q · second to ``base``, one entry per cell."""
    for k in range(base.size):
        base[k] += p * first[k] + q * second[k]


@compiled_internal
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


@compiled_internal
def split_effects(cells: Compressed, row: Vector, column: Vector, x: Vector, rows: Vector, columns: Vector) -> None:
    """Write the row and the column effect of every cell, and subtract both from ``x``; ``cells`` are by row."""
    for i in range(row.size):
        for k in range(cells.starts[i], cells.starts[i + 1]):
            rows[k], columns[k] = row[i], column[cells.indices[k]]
            x[k] -= rows[k] + columns[k]
