"""The layout of the flat vector that trajectories move.  Offsets are computed here and nowhere else."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import IntVector, Matrix, Vector
from manifill.base.jit import compiled

__all__ = ["Layout", "Views", "view"]


class Layout(NamedTuple):
    """U (m×r), V (n×r), s (r), then μ, a and b if there are effects, then the likelihood's coordinates (k).

    a and b hold the effects of rows and columns with cells only.  The others are independent of the data and of all
    else given their precisions, so they are drawn when all else has been (docs/math.md, §8.1).
    """

    rows: int  # m
    columns: int  # n
    rank: int
    has_effects: bool
    coordinates: int
    effect_rows: IntVector  # the rows whose effects are in the vector, ascending; (0,) without effects
    effect_columns: IntVector

    @classmethod
    def whole(cls, rows: int, columns: int, rank: int, has_effects: bool, coordinates: int) -> "Layout":
        """Return the layout of a table with cells in every row and column."""
        sizes = (rows, columns) if has_effects else (0, 0)
        return cls(rows, columns, rank, has_effects, coordinates, *(np.arange(size) for size in sizes))

    @property
    def size(self) -> int:
        """Length of the flat vector."""
        return self.factors_size + self.rest_size

    @property
    def factors_size(self) -> int:
        """Length of the part that lies on Stiefel manifolds, U and V."""
        return (self.rows + self.columns) * self.rank

    @property
    def rest_size(self) -> int:
        """Length of the Euclidean part: s, the effects and the coordinates."""
        return self.rank + self.effects_size + self.coordinates

    @property
    def effects_size(self) -> int:
        """Length of μ, a and b, or 0."""
        return 1 + self.effect_rows.size + self.effect_columns.size if self.has_effects else 0

    @property
    def width(self) -> int:
        """Number of columns of the factors of the completed matrix: r, plus two if there are effects."""
        return self.rank + 2 if self.has_effects else self.rank


class Views(NamedTuple):
    """The unknowns as views of a flat vector, or of a gradient or velocity of the same layout."""

    U: Matrix  # (m, r)
    V: Matrix  # (n, r)
    s: Vector  # (r,)
    mean: Vector  # μ, (1,), or (0,) without effects
    row: Vector  # a, of the rows in ``effect_rows``
    column: Vector  # b, of the columns in ``effect_columns``
    coordinates: Vector  # (k,)
    factors: Vector  # U and V, flat
    rest: Vector  # the Euclidean part: s, μ, a, b and the coordinates


@compiled
def view(layout: Layout, flat: Vector) -> Views:
    """Return the unknowns of a flat vector; writing to them writes to it."""
    m, n, r = layout.rows, layout.columns, layout.rank
    u, v = m * r, (m + n) * r
    s = v + r
    mean = s + 1 if layout.has_effects else s
    row = mean + layout.effect_rows.size
    column = row + layout.effect_columns.size
    return Views(
        flat[:u].reshape(m, r),
        flat[u:v].reshape(n, r),
        flat[v:s],
        flat[s:mean],
        flat[mean:row],
        flat[row:column],
        flat[column:],
        flat[:v],
        flat[v:],
    )
