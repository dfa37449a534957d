"""U-turn rule in the completed matrix: inner products of matrices and velocities at the ends of a trajectory.

Rows have weights p and columns q, ⟨A, B⟩ = Σ p_i q_j A_ij B_ij, so that the rule can emphasise rows and columns with
many observed cells (docs/math.md, §8.5).
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Matrix, Vector
from manifill.base.jit import compiled_internal
from manifill.kernels.effect_rows import weighted_sums
from manifill.kernels.factor_rows import weighted_gram
from manifill.unknowns import Views

__all__ = ["FactorProducts", "factor_products", "turning_of_effects", "turning_of_low_rank"]


class FactorProducts(NamedTuple):
    """Products of one factor at the two ends of a trajectory, 0 and 1, each (r, r): X is its value, W its velocity."""

    values: Matrix  # (2, 2, r, r): X_iᵀPX_j, P the diagonal matrix of the rows' weights
    speeds: Matrix  # (2, 2, r, r): X_iᵀPW_j


@compiled_internal
def factor_products(weights: Vector, X0: Matrix, W0: Matrix, X1: Matrix, W1: Matrix) -> FactorProducts:
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
def turning_of_low_rank(left: FactorProducts, right: FactorProducts, s: Matrix, speed: Matrix) -> tuple[float, float]:
    """Return ⟨X₁ − X₀, Ẋ₀⟩ and ⟨X₁ − X₀, Ẋ₁⟩ for X = U diag(s) Vᵀ; s and its velocity at both ends are (2, r)."""
    inner = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            inner[i, j] = _product(left, right, i, j, s, speed)
    return inner[1, 0] - inner[0, 0], inner[1, 1] - inner[0, 1]


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


@compiled_internal
def turning_of_effects(p: Vector, q: Vector, first: Views, last: Views, velocity: Views) -> float:
    """Return ⟨E₁ − E₀, Ė⟩ for E_ij = μ + a_i + b_j, with weights p and q of the rows and columns with effects."""
    common_change, common_speed = last.mean[0] - first.mean[0], velocity.mean[0]
    rows, row_change, row_speed = weighted_sums(p, last.row - first.row, common_change, velocity.row, common_speed)
    columns, column_change, column_speed = weighted_sums(q, last.column - first.column, 0.0, velocity.column, 0.0)
    return float(q.sum() * rows + p.sum() * columns + row_change * column_speed + column_change * row_speed)
