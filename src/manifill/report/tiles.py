"""A large matrix reduced to tiles: rows and columns sorted to show structure, neighbours averaged."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Array, IntVector, Matrix, Vector

__all__ = ["TiledAxis", "leading_orders", "tile_means", "tile_of_each", "tiled_axis"]

# Steps of the power method; sorting needs no more accuracy.
POWER_STEPS = 30


class TiledAxis(NamedTuple):
    """Rows or columns in display order, divided into tiles of neighbours."""

    order: IntVector  # (size,): index of the row or column at each position
    starts: IntVector  # (tiles,): first position in each tile

    @property
    def sizes(self) -> IntVector:
        """Number of rows or columns per tile, (tiles,)."""
        return np.diff(np.append(self.starts, self.order.size))


def tiled_axis(order: IntVector, tiles: int) -> TiledAxis:
    """Divide this order into tiles of nearly equal size, at most one per row or column."""
    return TiledAxis(order, np.linspace(0, order.size, min(tiles, order.size), endpoint=False).astype(np.int64))


def leading_orders(matrix: Matrix) -> tuple[IntVector, IntVector]:
    """Return rows and columns sorted by their entries in the leading singular vectors."""
    right = matrix[int(np.argmax(np.einsum("ij,ij->i", matrix, matrix)))]
    left = np.zeros(len(matrix))
    for _ in range(POWER_STEPS):
        left = _unit(matrix @ right)
        right = _unit(left @ matrix)
    return np.argsort(left, kind="stable"), np.argsort(right, kind="stable")


def tile_means(matrix: Array, rows: TiledAxis, columns: TiledAxis) -> Matrix:
    """Return the mean of the cells in each tile, (row tiles, column tiles)."""
    strips = np.add.reduceat(matrix[rows.order], rows.starts, axis=0, dtype=np.float64)
    sums = np.add.reduceat(strips[:, columns.order], columns.starts, axis=1)
    return np.asarray(sums / np.outer(rows.sizes, columns.sizes))


def tile_of_each(axis: TiledAxis) -> IntVector:
    """Return the tile of each row or column, (size,)."""
    tiles = np.empty(axis.order.size, dtype=np.int64)
    tiles[axis.order] = np.repeat(np.arange(axis.starts.size), axis.sizes)
    return tiles


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else vector
