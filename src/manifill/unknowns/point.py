"""The unknowns as one named structure, and the factors of the completed matrix that they represent."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Matrix, Vector
from manifill.unknowns.effects import Effects, left_columns, right_columns
from manifill.unknowns.layout import Layout, view

__all__ = ["Components", "Unknowns", "components_of_product", "fold_signs"]


class Components(NamedTuple):
    """The low-rank part U diag(s) Vᵀ, U and V with orthonormal columns."""

    U: Matrix  # (m, r)
    s: Vector  # (r,)
    V: Matrix  # (n, r)


def components_of_product(A: Matrix, B: Matrix) -> Components:
    """Return the singular value decomposition of A Bᵀ, from that of an r×r matrix; s is in descending order."""
    (left, left_triangle), (right, right_triangle) = np.linalg.qr(A), np.linalg.qr(B)
    U, s, Vt = np.linalg.svd(left_triangle @ right_triangle.T)
    return Components(left @ U, s, right @ Vt.T)


class Unknowns(NamedTuple):
    """A point: X = U diag(s) Vᵀ + μ + a_i + b_j, and the parameters of the likelihood that are sampled with it."""

    U: Matrix  # (m, r), orthonormal columns
    s: Vector  # (r,)
    V: Matrix  # (n, r), orthonormal columns
    effects: Effects
    coordinates: Vector  # (k,) of the likelihood, standard normal under the prior; most likelihoods have none

    def factors(self) -> tuple[Matrix, Matrix]:
        """Return left (m, r or r + 2) and right (n, …), whose product is the completed matrix."""
        if not self.effects.exist:
            return self.U * self.s, self.V
        return np.hstack([self.U * self.s, left_columns(self.effects)]), np.hstack(
            [self.V, right_columns(self.effects)]
        )

    def pack(self, layout: Layout) -> Vector:
        """Return the flat vector of the layout."""
        flat = np.empty(layout.size)
        at, effects = view(layout, flat), self.effects
        at.U[:], at.V[:], at.s[:], at.coordinates[:] = self.U, self.V, self.s, self.coordinates
        if layout.has_effects:
            at.mean[0] = effects.mean
            at.row[:], at.column[:] = effects.row[layout.effect_rows], effects.column[layout.effect_columns]
        return flat

    def moved_to(self, layout: Layout, flat: Vector) -> "Unknowns":
        """Return the unknowns of a flat vector, as copies; effects and precisions that it does not hold are kept."""
        at = view(layout, flat.copy())
        effects = self.effects
        if layout.has_effects:
            row, column = effects.row.copy(), effects.column.copy()
            row[layout.effect_rows], column[layout.effect_columns] = at.row, at.column
            effects = effects._replace(mean=float(at.mean[0]), row=row, column=column)
        return Unknowns(at.U, at.s, at.V, effects, at.coordinates)


def fold_signs(layout: Layout, flat: Vector) -> None:
    """Make all of s positive, in place, by flipping columns of U; neither the matrix nor its density changes."""
    at = view(layout, flat)
    negative = at.s < 0.0
    if negative.any():
        at.U[:, negative] *= -1.0
        np.abs(at.s, out=at.s)
