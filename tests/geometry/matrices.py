"""Low-rank matrices written out: the turning rule with m×n arrays."""

import numpy as np

from manifill.base.arrays import Matrix, Vector
from manifill.geometry import LowRank


def parts(manifold: LowRank, flat: Vector) -> tuple[Matrix, Matrix, Vector, Vector]:
    """Return U, V, s and the effects of a flat vector."""
    m, n, r = manifold.left.rows, manifold.right.rows, manifold.left.columns
    U, V, s, effects = np.split(flat, [m * r, (m + n) * r, (m + n + 1) * r])
    return U.reshape(m, r), V.reshape(n, r), s, effects


def whole_matrix(manifold: LowRank, position: Vector, velocity: Vector) -> tuple[Matrix, Matrix]:
    """Return X = U diag(s) Vᵀ plus effects, and its velocity, m×n each."""
    U, V, s, _ = parts(manifold, position)
    dU, dV, ds, _ = parts(manifold, velocity)
    value, speed = U * s @ V.T, dU * s @ V.T + U * ds @ V.T + U * s @ dV.T
    return value + effects_part(manifold, position), speed + effects_part(manifold, velocity)


def effects_part(manifold: LowRank, flat: Vector) -> Matrix:
    """Return μ + a_i + b_j, m×n, or zero where there are no effects."""
    m, n, effects = manifold.left.rows, manifold.right.rows, parts(manifold, flat)[3]
    if not effects.size:
        return np.zeros((m, n))
    return np.asarray(effects[0] + effects[1 : 1 + m, None] + effects[1 + m :])


def turning(manifold: LowRank, first: Vector, velocity: Vector, last: Vector, last_velocity: Vector) -> Vector:
    """Return ⟨X₁ − X₀, Ẋ⟩ at both ends, weighted; X includes the effects."""
    weights = np.outer(manifold.row_weights, manifold.column_weights)
    (X0, dX0), (X1, dX1) = (whole_matrix(manifold, *end) for end in ((first, velocity), (last, last_velocity)))
    return np.array([np.sum(weights * (X1 - X0) * speed) for speed in (dX0, dX1)])
