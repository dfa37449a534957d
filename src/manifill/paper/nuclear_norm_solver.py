"""An independent solver for nuclear-norm penalised maximum likelihood, to check ``map_estimate`` against.

It shares no code with ``map_estimation`` on purpose.  It minimises f(X) + λ‖X‖_* over X, where f is the negative log
likelihood of the observed cells, by the accelerated proximal gradient method with restarts (Beck and Teboulle 2009;
O'Donoghue and Candès 2015) and takes a full singular value decomposition per step.
"""

from collections.abc import Callable

import numpy as np

from manifill.base.arrays import IntVector, Matrix, Vector
from manifill.paper.cases import TRIALS

__all__ = ["LOSSES", "Loss", "nuclear_norm_solution", "objective"]

Loss = Callable[[Vector, Vector], tuple[float, Vector]]  # (x, y) -> value, derivative in x


def _gaussian(x: Vector, y: Vector) -> tuple[float, Vector]:
    return float(0.5 * np.sum((x - y) ** 2)), x - y


def _softplus(x: Vector, y: Vector) -> tuple[float, Vector]:
    residual = np.logaddexp(0.0, x) - y
    return float(0.5 * np.sum(residual**2)), residual / (1.0 + np.exp(-x))


def _binomial(x: Vector, y: Vector) -> tuple[float, Vector]:
    return float(np.sum(TRIALS * np.logaddexp(0.0, x) - y * x)), TRIALS / (1.0 + np.exp(-x)) - y


LOSSES: dict[str, Loss] = {"gaussian": _gaussian, "softplus": _softplus, "binomial": _binomial}

# Upper bounds of the second derivatives, which limit the step.  The bound of the softplus loss holds for y ≥ 0.  That
# loss is not convex, so the method finds a stationary point of it.
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
    max_steps: int = 50_000,
) -> Matrix:
    """Return the minimiser, (m, n), after iterating until a step changes X by less than ``tolerance`` of its norm."""
    step = 1.0 / CURVATURES[likelihood]
    X = extrapolated = np.zeros(shape)
    momentum = 1.0
    for _ in range(max_steps):
        gradient = np.zeros(shape)
        gradient[rows, cols] = LOSSES[likelihood](extrapolated[rows, cols], y)[1]
        new = _soft_thresholded(extrapolated - step * gradient, step * penalty)
        change = new - X
        if np.sum((extrapolated - new) * change) > 0.0:  # the momentum points uphill: restart
            momentum, extrapolated = 1.0, X
            continue
        next_momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        extrapolated = new + (momentum - 1.0) / next_momentum * change
        X, momentum = new, next_momentum
        if np.linalg.norm(change) <= tolerance * np.linalg.norm(X):
            return X
    raise RuntimeError(f"no minimum of the {likelihood} likelihood within {max_steps} steps.")


def _soft_thresholded(Z: Matrix, threshold: float) -> Matrix:
    """Return the proximal point of threshold·‖·‖_* at Z: singular values reduced by ``threshold``, but not below 0."""
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    return np.asarray((U * np.maximum(s - threshold, 0.0)) @ Vt)
