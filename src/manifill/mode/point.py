"""A low-rank matrix with effects, x_ij = μ + a_i + b_j + Σ_l u_il s_l v_jl."""

from typing import NamedTuple

import numpy as np

from manifill.types import IntVector, Matrix, Vector

__all__ = ["Point", "origin", "singular_triples"]

# Cells whose products are taken at once: the rows gathered for them stay in the cache.
CHUNK = 2**13


class Point(NamedTuple):
    """U (m×k) and V (n×k) with orthonormal columns, s (k,) positive; and effects, zero where there are none."""

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
        """Return [μ + a, U√s, 1] (m, k + 2) and [1, V√s, b] (n, k + 2), whose product is x: effects meet ones."""
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
        """Return the point with its first components only."""
        return self._replace(U=self.U[:, :count], s=self.s[:count], V=self.V[:, :count])


def origin(shape: tuple[int, int], mean: float) -> Point:
    """Return the point with ``mean`` in all cells: no components, no effects."""
    m, n = shape
    return Point(np.empty((m, 0)), np.empty(0), np.empty((n, 0)), np.zeros(m), np.zeros(n), mean)


def singular_triples(A: Matrix, B: Matrix) -> tuple[Matrix, Vector, Matrix]:
    """Return U, s, V of A Bᵀ, from the decomposition of a k×k matrix."""
    QA, RA = np.linalg.qr(A)
    QB, RB = np.linalg.qr(B)
    left, s, right = np.linalg.svd(RA @ RB.T)
    return QA @ left, s, QB @ right.T
