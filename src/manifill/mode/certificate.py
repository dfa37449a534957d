"""Whether a point is the mode, told from the point alone: how far zero is from the subgradients of F."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from manifill.mode.objective import Objective
from manifill.mode.point import Point
from manifill.problem import Gaussian
from manifill.types import Matrix

__all__ = ["Certificate", "Residuals", "duality_gap", "residuals"]


class Residuals(NamedTuple):
    """How far a point is from the conditions of a mode, in units of λ (docs/math.md, the mode)."""

    alignment: float  # the larger of ‖GV − λU‖ and ‖GᵀU − λV‖
    excess: float  # by how much ‖(I − UUᵀ) G (I − VVᵀ)‖ is above λ
    effects: float  # the gradient in μ, a and b; 0 without them


@dataclass(frozen=True)
class Certificate:
    """How far a point is from the mode, and what that is worth.

    With zero residuals the point is stationary, and if the likelihood is log-concave (Gaussian and Binomial are) no
    point has a higher posterior density.
    """

    residuals: Residuals
    gap: float | None  # the most that F could still fall by, as a share of F; for the Gaussian likelihood only
    cap_binds: bool  # whether a matrix of higher rank than allowed would be better
    tolerance: float

    @property
    def converged(self) -> bool:
        """Whether the conditions hold to the tolerance; if the cap binds, the conditions among matrices of its rank."""
        alignment, excess, effects = self.residuals
        return max(alignment, effects, 0.0 if self.cap_binds else excess) <= self.tolerance


def residuals(objective: Objective, point: Point, slopes: csr_array, outside: float, unit: float) -> Residuals:
    """Return the residuals at a point with slopes G; ``outside`` is ‖(I − UUᵀ) G (I − VVᵀ)‖.

    ``unit`` is λ, or the norm of the slopes where the search began if that is less: a higher λ makes nothing easier.
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
    """Return the largest norm of the gradients in a, b and μ; the vectors of ones that meet G count as unit vectors."""
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
    """Return (F − D) / F for the Gaussian likelihood, D a lower bound of all values of F (docs/math.md, the mode).

    The dual variable is cG, c the best of those with ‖cG‖ ≤ λ.
    """
    if not isinstance(objective.likelihood, Gaussian):
        return None
    value = objective.value(point)
    if value <= 0.0:  # nothing is below zero
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

    At the mode it is exact.  G has the singular value λ many times over there, which iterations resolve badly.
    """
    right, left = slopes @ point.V, slopes.T @ point.U
    core = point.U.T @ right
    above, below = _norm(left - point.V @ core.T), _norm(right - point.U @ core)
    return float(np.linalg.norm([[_norm(core), above], [below, outside]], 2))
