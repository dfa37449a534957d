"""Sums over the observed cells that draws of the noise need."""

from manifill.base.arrays import Vector
from manifill.base.jit import compiled
from manifill.kernels.compressed import Compressed

__all__ = ["column_products", "row_products", "weigh_cells"]


@compiled
def weigh_cells(cells: Compressed, row: Vector, column: Vector, mixing: Vector, out: Vector) -> None:
    """Write row_i · column_j · mixing_k for each cell; factors that are empty are one.  ``cells`` are by row."""
    for i in range(cells.starts.size - 1):
        of_row = row[i] if row.size > 0 else 1.0
        for k in range(cells.starts[i], cells.starts[i + 1]):
            of_column = column[cells.indices[k]] if column.size > 0 else 1.0
            out[k] = of_row * of_column * (mixing[k] if mixing.size > 0 else 1.0)


@compiled
def row_products(cells: Compressed, values: Vector, column: Vector, out: Vector) -> None:
    """Write Σ_j value_ij · column_j for each row; an empty ``column`` is one.  ``cells`` are by row."""
    for i in range(out.size):
        total = 0.0
        for k in range(cells.starts[i], cells.starts[i + 1]):
            total += values[k] * (column[cells.indices[k]] if column.size > 0 else 1.0)
        out[i] = total


@compiled
def column_products(cells: Compressed, values: Vector, row: Vector, out: Vector) -> None:
    """Write Σ_i value_ij · row_i for each column; an empty ``row`` is one.  ``cells`` are by row."""
    out[:] = 0.0
    for i in range(cells.starts.size - 1):
        of_row = row[i] if row.size > 0 else 1.0
        for k in range(cells.starts[i], cells.starts[i + 1]):
            out[cells.indices[k]] += values[k] * of_row
