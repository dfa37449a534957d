"""U-turn rule in the completed matrix: inner products of matrices and velocities at the ends of a trajectory.

Rows have weights p and columns q, ⟨A, B⟩ = Σ p_i q_j A_ij B_ij, so that the rule can emphasise rows and columns with
many observed cells (docs/math.md, §8.5).
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Matrix, Vector
from manifill.base.jit import compiled_internal
from manifill.kernels.effect_rows import write_levels
from manifill.kernels.factor_rows import copy_scaled, weighted_gram
from manifill.unknowns import Layout, Views

__all__ = ["Components", "components", "turning"]


class Components(NamedTuple):
    """The completed matrix as left · diag(s) · rightᵀ, or its velocity; effects are two more components."""

    left: Matrix  # (m, r), or (m, r + 2) with the columns μ + a and 1
    s: Vector  # (r,), and then 1 and 1
    right: Matrix  # (n, r), or (n, r + 2) with the columns 1 and b


@compiled_internal
def components(layout: Layout, at: Views, one: float) -> Components:
    """Return the components at a position, with ``one`` = 1, or those of a velocity, with ``one`` = 0.

    Effects of rows and columns without cells are not part of a trajectory; such rows and columns have no weight.
    """
    r = layout.rank
    width, ones = (r + 2 if layout.has_effects else r), np.ones(r)
    left, s, right = np.full((layout.rows, width), one), np.full(width, one), np.full((layout.columns, width), one)
    copy_scaled(at.U, ones, left)
    copy_scaled(at.V, ones, right)
    s[:r] = at.s
    if layout.has_effects:
        write_levels(at.mean[0], at.row, layout.effect_rows, left[:, r])
        write_levels(0.0, at.column, layout.effect_columns, right[:, r + 1])
    return Components(left, s, right)


class FactorProducts(NamedTuple):
    """Products of one factor at the two ends of a trajectory, 0 and 1, each (r, r): X is its value, W its velocity."""

    values: Matrix  # (2, 2, r, r): X_iᵀPX_j, P the diagonal matrix of the rows' weights
    speeds: Matrix  # (2, 2, r, r): X_iᵀPW_j


@compiled_internal
def turning(
    p: Vector, q: Vector, first: Components, first_velocity: Components, last: Components, last_velocity: Components
) -> tuple[float, float]:
    """Return ⟨X₁ − X₀, Ẋ₀⟩ and ⟨X₁ − X₀, Ẋ₁⟩."""
    left = _factor_products(p, first.left, first_velocity.left, last.left, last_velocity.left)
    right = _factor_products(q, first.right, first_velocity.right, last.right, last_velocity.right)
    s, speed = np.stack((first.s, last.s)), np.stack((first_velocity.s, last_velocity.s))
    inner = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            inner[i, j] = _product(left, right, i, j, s, speed)
    return inner[1, 0] - inner[0, 0], inner[1, 1] - inner[0, 1]


@compiled_internal
def _factor_products(weights: Vector, X0: Matrix, W0: Matrix, X1: Matrix, W1: Matrix) -> FactorProducts:
    """Return all products of a factor with values X and velocities W at both ends, (n, r) each."""
    r = X0.shape[1]
    products = FactorProducts(np.empty((2, 2, r, r)), np.empty((2, 2, r, r)))
    x, w = (X0, X1), (W0, W1)
    for i in range(2):
        for j in range(2):
            weighted_gram(x[i], weights, w[j], products.speeds[i, j])
            if i <= j:
                weighted_gram(x[i], weights, x[j], products.values[i, j])
    for a in range(r):
        for b in range(r):
            products.values[1, 0, a, b] = products.values[0, 1, b, a]
    return products


@compiled_internal
def _product(left: FactorProducts, right: FactorProducts, i: int, j: int, s: Matrix, speed: Matrix) -> float:
    """Return ⟨X_i, Ẋ_j⟩, Ẋ = U̇SVᵀ + UṠVᵀ + USV̇ᵀ (docs/math.md, eq. 38)."""
    UU, VV, UW, VW = left.values[i, j], right.values[i, j], left.speeds[i, j], right.speeds[i, j]
    total = 0.0
    for a in range(s.shape[1]):
        for b in range(s.shape[1]):
            change = UW[a, b] * VV[a, b] + UU[a, b] * VW[a, b]
            total += s[i, a] * (s[j, b] * change + speed[j, b] * UU[a, b] * VV[a, b])
    return total
