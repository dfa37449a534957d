"""A low-rank matrix with effects, x_ij = μ + a_i + b_j + Σ_l u_il s_l v_jl."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import IntVector, Matrix, Vector

__all__ = ["Point", "origin"]

# Cells computed at once: the rows of the factors gathered for them stay in the cache.
CHUNK = 2**13


class Point(NamedTuple):
    """U (m×k) and V (n×k) with orthonormal columns, s (k,) positive, and effects, which are zero without a prior."""

    U: Matrix
    s: Vector
    V: Matrix
    row: Vector  # (m,), a
    column: Vector  # (n,), b
    mean: float  # μ

    @property
    def rank(self) -> int:
        """The number of components, k."""
        return len(self.s)

    def factors(self) -> tuple[Matrix, Matrix]:
        """Return [μ + a, U√s, 1] (m, k + 2) and [1, V√s, b] (n, k + 2); x is the first times the second transposed."""
        root = np.sqrt(self.s)
        left, right = (np.ones((len(effects), self.rank + 2)) for effects in (self.row, self.column))
        left[:, 0], left[:, 1:-1] = self.mean + self.row, self.U * root
        right[:, 1:-1], right[:, -1] = self.V * root, self.column
        return left, right

    def at(self, rows: IntVector, cols: IntVector) -> Vector:
        """Return x at these cells."""
        left, right = self.factors()
        x = np.empty(len(rows))
        for begin in range(0, len(rows), CHUNK):
            part = slice(begin, begin + CHUNK)
            np.einsum("ck,ck->c", left[rows[part]], right[cols[part]], out=x[part])
        return x

    def first(self, count: int) -> "Point":
        """Return the point with its first ``count`` components only."""
        return self._replace(U=self.U[:, :count], s=self.s[:count], V=self.V[:, :count])


def origin(shape: tuple[int, int], mean: float) -> Point:
    """Return the point with ``mean`` in all cells: no components, no effects."""
    m, n = shape
    return Point(np.empty((m, 0)), np.empty(0), np.empty((n, 0)), np.zeros(m), np.zeros(n), mean)
