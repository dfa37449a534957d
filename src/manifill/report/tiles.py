"""A matrix small enough to look at: rows and columns in an order that shows structure, many of them to a tile."""

from typing import NamedTuple

import numpy as np

from manifill.types import Array, IntVector, Matrix, Vector

__all__ = ["Axis", "axis", "leading_orders", "tile_means", "tile_of_each"]

# Steps of the power method: an order needs no more.
ROUNDS = 30


class Axis(NamedTuple):
    """Rows, or columns, in the order of the picture, and the tiles that neighbours share."""

    order: IntVector  # (size,): which comes at each place
    starts: IntVector  # (tiles,): the first place of each tile

    @property
    def sizes(self) -> IntVector:
        """How many share each tile."""
        return np.diff(np.append(self.starts, self.order.size))


def axis(order: IntVector, tiles: int) -> Axis:
    """Return this order in so many tiles, or in fewer where there are not as many."""
    return Axis(order, np.linspace(0, order.size, min(tiles, order.size), endpoint=False).astype(np.int64))


def leading_orders(matrix: Matrix) -> tuple[IntVector, IntVector]:
    """Return rows and columns sorted by their entries in the leading singular vectors."""
    right = matrix[int(np.argmax(np.einsum("ij,ij->i", matrix, matrix)))]
    left = np.zeros(len(matrix))
    for _ in range(ROUNDS):
        left = _unit(matrix @ right)
        right = _unit(left @ matrix)
    return np.argsort(left, kind="stable"), np.argsort(right, kind="stable")


def tile_means(matrix: Array, rows: Axis, columns: Axis) -> Matrix:
    """Return the mean of the cells in each tile."""
    strips = np.add.reduceat(matrix[rows.order], rows.starts, axis=0, dtype=np.float64)
    sums = np.add.reduceat(strips[:, columns.order], columns.starts, axis=1)
    return np.asarray(sums / np.outer(rows.sizes, columns.sizes))


def tile_of_each(axis: Axis) -> IntVector:
    """Return the tile that each row, or column, is in."""
    tiles = np.empty(axis.order.size, dtype=np.int64)
    tiles[axis.order] = np.repeat(np.arange(axis.starts.size), axis.sizes)
    return tiles


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else vector
