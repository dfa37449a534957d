"""A solver for nuclear-norm penalised maximum likelihood that shares no code with the rest of the package.

min over X of f(X) + λ‖X‖_*, f the negative log likelihood of the observed cells, by the accelerated proximal gradient
method with restarts (Beck and Teboulle 2009; O'Donoghue and Candès 2015), a full singular value decomposition a step.
"""

from collections.abc import Callable

import numpy as np

from manifill.paper.cases import TRIALS
from manifill.types import IntVector, Matrix, Vector

__all__ = ["LOSSES", "Loss", "nuclear_norm_solution", "objective"]

Loss = Callable[[Vector, Vector], tuple[float, Vector]]  # of x and y: its value, and its derivative in x


def _gaussian(x: Vector, y: Vector) -> tuple[float, Vector]:
    return float(0.5 * np.sum((x - y) ** 2)), x - y


def _softplus(x: Vector, y: Vector) -> tuple[float, Vector]:
    off = np.logaddexp(0.0, x) - y
    return float(0.5 * np.sum(off**2)), off / (1.0 + np.exp(-x))


def _binomial(x: Vector, y: Vector) -> tuple[float, Vector]:
    return float(np.sum(TRIALS * np.logaddexp(0.0, x) - y * x)), TRIALS / (1.0 + np.exp(-x)) - y


LOSSES: dict[str, Loss] = {"gaussian": _gaussian, "softplus": _softplus, "binomial": _binomial}

# Upper bounds of the second derivatives, for the step; that of the softplus holds where y is not negative.  It has no
# lower one, so there the method finds a stationary point.
CURVATURES = {"gaussian": 1.0, "softplus": 1.5, "binomial": TRIALS / 4.0}


def objective(likelihood: str, X: Matrix, rows: IntVector, cols: IntVector, y: Vector, penalty: float) -> float:
    """Return f(X) + λ‖X‖_* at unit noise."""
    value, _ = LOSSES[likelihood](X[rows, cols], y)
    return value + penalty * float(np.linalg.svd(X, compute_uv=False).sum())


def nuclear_norm_solution(
    likelihood: str,
    shape: tuple[int, int],
    rows: IntVector,
    cols: IntVector,
    y: Vector,
    penalty: float,
    *,
    tolerance: float = 1e-10,
    most: int = 50_000,
) -> Matrix:
    """Return the minimiser, (m, n): iterate until a step changes X by less than ``tolerance`` of its norm."""
    step = 1.0 / CURVATURES[likelihood]
    X = ahead = np.zeros(shape)
    momentum = 1.0
    for _ in range(most):
        gradient = np.zeros(shape)
        gradient[rows, cols] = LOSSES[likelihood](ahead[rows, cols], y)[1]
        new = _shrunk(ahead - step * gradient, step * penalty)
        change = new - X
        if np.sum((ahead - new) * change) > 0.0:  # the momentum points uphill
            momentum, ahead = 1.0, X
            continue
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        X, ahead, momentum = new, new + (momentum - 1.0) / following * change, following
        if np.linalg.norm(change) <= tolerance * np.linalg.norm(X):
            return X
    raise RuntimeError(f"no minimum of the {likelihood} likelihood within {most} steps.")


def _shrunk(Z: Matrix, by: float) -> Matrix:
    """Return the proximal point of by·‖·‖_*: singular values less ``by``, none below zero."""
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    return np.asarray((U * np.maximum(s - by, 0.0)) @ Vt)
