"""Whether a point is the mode, decided from the point alone: the distance of zero from the subgradients of F."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from manifill.base.arrays import Matrix
from manifill.map_estimation.objective import Objective
from manifill.map_estimation.point import Point

__all__ = ["Certificate", "Residuals", "duality_gap", "residuals"]


class Residuals(NamedTuple):
    """Violations of the optimality conditions of a mode, in units of λ (docs/math.md, the mode)."""

    alignment: float  # the larger of ‖GV − λU‖ and ‖GᵀU − λV‖
    excess: float  # the amount by which ‖(I − UUᵀ) G (I − VVᵀ)‖ exceeds λ
    effects: float  # the gradient in μ, a and b; 0 without effects


@dataclass(frozen=True)
class Certificate:
    """Distance of a point from the mode.

    A point with zero residuals is stationary.  If the likelihood is also log-concave, as the Gaussian and the Binomial
    are, no point has a higher posterior density.
    """

    residuals: Residuals
    gap: float | None  # relative duality gap: F can fall by at most this fraction; for the Gaussian likelihood only
    cap_binds: bool  # whether a matrix of higher rank than allowed would have a lower F
    tolerance: float

    @property
    def converged(self) -> bool:
        """Whether the residuals are within the tolerance; ``excess`` does not count if the rank cap binds."""
        alignment, excess, effects = self.residuals
        return max(alignment, effects, 0.0 if self.cap_binds else excess) <= self.tolerance


def residuals(objective: Objective, point: Point, slopes: csr_array, outside: float, unit: float) -> Residuals:
    """Return the residuals at a point with slopes G; ``outside`` is ‖(I − UUᵀ) G (I − VVᵀ)‖.

    ``unit`` is the smaller of λ and the norm of the slopes at the origin: a larger λ does not relax the tolerance.
    """
    rate = objective.prior.rate
    misfits = slopes @ point.V - rate * point.U, slopes.T @ point.U - rate * point.V
    return Residuals(
        alignment=max(_norm(misfit) for misfit in misfits) / unit,
        excess=max(outside - rate, 0.0) / unit,
        effects=_effects_gradient(objective, point, slopes) / unit,
    )


def _norm(tall: Matrix) -> float:
    """Return the largest singular value of a matrix with few columns."""
    return float(np.sqrt(max(np.linalg.eigvalsh(tall.T @ tall)[-1], 0.0))) if tall.size else 0.0


def _effects_gradient(objective: Objective, point: Point, slopes: csr_array) -> float:
    """Return the largest norm of the gradients in a, b and μ, for vectors of ones normalised to unit length."""
    prior = objective.prior.effects
    if prior is None:
        return 0.0
    m, n = objective.shape
    in_rows = slopes.sum(axis=1) - prior.row * point.row
    in_columns = slopes.sum(axis=0) - prior.column * point.column
    in_mean = float(slopes.sum()) - prior.mean * (point.mean - prior.centre)
    gradients = np.linalg.norm(in_rows) / n**0.5, np.linalg.norm(in_columns) / m**0.5, abs(in_mean) / (m * n) ** 0.5
    return float(max(gradients))


def duality_gap(objective: Objective, point: Point, slopes: csr_array, outside: float) -> float | None:
    """Return (F − D) / F for the Gaussian likelihood, where D is a lower bound of F (docs/math.md, the mode).

    The dual variable is cG, with the best c for which ‖cG‖ ≤ λ.
    """
    if not objective.likelihood.is_conjugate:
        return None
    value = objective.value(point)
    if value <= 0.0:  # F has no negative values, so this is the minimum
        return 0.0
    rate, precision, effects = objective.prior
    linear = float(slopes.data @ (objective.by_row.values - objective.origin.mean))
    square = float(slopes.data @ slopes.data) / precision
    if effects is not None:
        in_rows, in_columns = slopes.sum(axis=1), slopes.sum(axis=0)
        square += float(in_rows @ in_rows) / effects.row + float(in_columns @ in_columns) / effects.column
        square += float(slopes.sum()) ** 2 / effects.mean
    share = max(min(linear / max(square, 1e-300), rate / max(_norm_bound(point, slopes, outside), 1e-300)), 0.0)
    bound = share * linear - 0.5 * share**2 * square
    return max(value - bound, 0.0) / value


def _norm_bound(point: Point, slopes: csr_array, outside: float) -> float:
    """Return an upper bound of ‖G‖: the norm of the 2×2 matrix of the norms of its blocks, in and outside U and V.

    The bound is exact at the mode, where λ is a multiple singular value of G, which iterative methods resolve poorly.
    """
    right, left = slopes @ point.V, slopes.T @ point.U
    core = point.U.T @ right
    above, below = _norm(left - point.V @ core.T), _norm(right - point.U @ core)
    return float(np.linalg.norm([[_norm(core), above], [below, outside]], 2))
