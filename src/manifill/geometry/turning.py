"""Whether a matrix on its way turns: products of what it is, and of how it moves, at two points (docs/math.md, §8.5).

Rows have weights p and columns q, ⟨A, B⟩ = Σ p_i q_j A_ij B_ij, so that a rule can look where the data do.
"""

from typing import NamedTuple

import numpy as np

from manifill.compiled import compiled
from manifill.geometry.tall import gram, weigh_rows
from manifill.types import Matrix, Vector

__all__ = ["FactorProducts", "fill_products", "turning_of_effects", "turning_of_low_rank"]


class FactorProducts(NamedTuple):
    """Products of one factor at two ends of a way, 0 and 1, each (r, r): with X its place there and W its velocity."""

    weights: Vector  # (n,): of the rows of X, the diagonal of P
    places: Matrix  # (2, 2, r, r): X_iᵀPX_j
    speeds: Matrix  # (2, 2, r, r): X_iᵀPW_j
    weighted: Matrix  # scratch, (2, n, r): PX_i

    @classmethod
    def of_shape(cls, rows: int, columns: int) -> "FactorProducts":
        """Return room for a factor, with unit weights."""
        small = (2, 2, columns, columns)
        return cls(np.ones(rows), np.empty(small), np.empty(small), np.empty((2, rows, columns)))


@compiled
def fill_products(products: FactorProducts, X0: Vector, W0: Vector, X1: Vector, W1: Vector) -> None:
    """Write all products; place X and velocity W at both ends are flat, (n·r,) each."""
    shape = products.weighted.shape[1:]
    x, w = (X0.reshape(shape), X1.reshape(shape)), (W0.reshape(shape), W1.reshape(shape))
    for i in range(2):
        weigh_rows(x[i], products.weights, products.weighted[i])
        for j in range(2):
            gram(products.weighted[i], w[j], products.speeds[i, j])
            if i <= j:
                gram(products.weighted[i], x[j], products.places[i, j])
    products.places[1, 0] = products.places[0, 1].T


@compiled
def turning_of_low_rank(
    left: FactorProducts, right: FactorProducts, s: tuple[Vector, Vector], speed: tuple[Vector, Vector]
) -> tuple[float, float]:
    """Return ⟨X₁ − X₀, Ẋ₀⟩ and ⟨X₁ − X₀, Ẋ₁⟩ for X = U diag(s) Vᵀ, given s and its velocity at both ends."""
    at_first = _product(left, right, 1, 0, s, speed) - _product(left, right, 0, 0, s, speed)
    at_last = _product(left, right, 1, 1, s, speed) - _product(left, right, 0, 1, s, speed)
    return at_first, at_last


@compiled
def _product(
    left: FactorProducts, right: FactorProducts, i: int, j: int, s: tuple[Vector, Vector], speed: tuple[Vector, Vector]
) -> float:
    """Return ⟨X_i, Ẋ_j⟩, Ẋ = U̇SVᵀ + UṠVᵀ + USV̇ᵀ (docs/math.md, eq. 38)."""
    UU, VV, UW, VW = left.places[i, j], right.places[i, j], left.speeds[i, j], right.speeds[i, j]
    total = 0.0
    for a in range(s[0].size):
        for b in range(s[0].size):
            change = UW[a, b] * VV[a, b] + UU[a, b] * VW[a, b]
            total += s[i][a] * (s[j][b] * change + speed[j][b] * UU[a, b] * VV[a, b])
    return total


@compiled
def turning_of_effects(
    p: Vector, q: Vector, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector
) -> tuple[float, float]:
    """Return ⟨E₁ − E₀, Ė₀⟩ and ⟨E₁ − E₀, Ė₁⟩ for E_ij = μ + a_i + b_j, with weights p (m,) and q (n,).

    A point or velocity is μ, a and b, (1 + m + n,); the row levels μ + a_i and the columns' b_j make E.
    """
    change = last - first
    return _effects_product(p, q, change, first_velocity), _effects_product(p, q, change, last_velocity)


@compiled
def _effects_product(p: Vector, q: Vector, change: Vector, velocity: Vector) -> float:
    m = p.size
    rows, row_change, row_speed = _sums(p, change[1 : m + 1], change[0], velocity[1 : m + 1], velocity[0])
    columns, column_change, column_speed = _sums(q, change[m + 1 :], 0.0, velocity[m + 1 :], 0.0)
    return float(q.sum() * rows + p.sum() * columns + row_change * column_speed + column_change * row_speed)


@compiled
def _sums(
    weights: Vector, change: Vector, common_change: float, speed: Vector, common_speed: float
) -> tuple[float, float, float]:
    """Return the weighted sums of change times speed, of change, and of speed, with what all have in common added."""
    both, changes, speeds = 0.0, 0.0, 0.0
    for k in range(weights.size):
        c, v = change[k] + common_change, speed[k] + common_speed
        both += weights[k] * c * v
        changes += weights[k] * c
        speeds += weights[k] * v
    return both, changes, speeds
