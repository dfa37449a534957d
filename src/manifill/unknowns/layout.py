"""The layout of the flat vector that trajectories move.  Offsets are computed here and nowhere else."""

from typing import NamedTuple

from manifill.base.arrays import Matrix, Vector
from manifill.base.jit import compiled

__all__ = ["Layout", "Views", "view"]


class Layout(NamedTuple):
    """U (m×r), V (n×r), s (r), then μ, a (m) and b (n) if there are effects, then the likelihood's coordinates (k)."""

    rows: int
    columns: int
    rank: int
    has_effects: bool
    coordinates: int

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
        return 1 + self.rows + self.columns if self.has_effects else 0

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
    row: Vector  # a, (m,) or (0,)
    column: Vector  # b, (n,) or (0,)
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
    row = mean + m if layout.has_effects else mean
    column = row + n if layout.has_effects else row
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
