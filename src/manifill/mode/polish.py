"""The mode among matrices of a given rank, searched in the factors of L = A Bᵀ.

λ‖L‖_* is the least of ½λ(‖A‖² + ‖B‖²) over all such factors, so the penalty becomes smooth, and a step of the search
costs a pass over the cells instead of a singular value decomposition.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from manifill.mode.lbfgs import minimise
from manifill.mode.objective import Objective
from manifill.mode.point import Point, singular_triples
from manifill.types import Matrix, Vector

__all__ = ["Polished", "polish"]

# Singular values below this share of the largest are rounding errors.
NEGLIGIBLE = 1e-14


class Polished(NamedTuple):
    """A point, the steps it took, and whether the search ended for want of a better one."""

    point: Point
    steps: int
    stuck: bool


def polish(objective: Objective, point: Point, accuracy: float, most_steps: int) -> Polished:
    """Return the mode of the point's rank, near it, where the gradient of F is at most ``accuracy``.

    The gradient is measured as the certificate does, so ``accuracy`` compares with λ.
    """
    search = _Search(objective, point)
    found = minimise(search.value_and_gradient, search.start, lambda g: search.residual(g) <= accuracy, most_steps)
    return Polished(search.point(found.position), found.steps, found.stuck)


class _Search:
    """F as a function of one flat vector, the entries that vary of two factors [α, A, 1] and [1, B, b].

    α = μ + a, and μ is the best one for α, no variable of its own.  Variables are multiplied by the roots of F's second
    derivatives at the start, so that rows of many cells and of few, and components with large and small singular
    values, all have a curvature of about 1.
    """

    def __init__(self, objective: Objective, point: Point) -> None:
        self.objective = objective
        self.left, self.right = point.factors()
        has_effects = objective.prior.effects is not None
        self.left_varies = slice(0 if has_effects else 1, -1)
        self.right_varies = slice(1, None if has_effects else -1)
        curvatures = objective.curvatures(point)
        curvatures.data = np.maximum(curvatures.data, 0.0)  # a likelihood need not be concave, but scales have a root
        self.scales = self._joined(*_scales(objective, curvatures, self.left, self.right))
        self.start = self._joined(self.left, self.right) * self.scales
        self.left_weights, self.right_weights = _weights(objective, curvatures, point.s)

    def value_and_gradient(self, position: Vector) -> tuple[float, Vector]:
        """Return F and its gradient in the scaled variables."""
        self._place(position)
        fit, fit_left, fit_right = self.objective.likelihood_gradients(self.left, self.right)
        penalty, in_left, in_right = self._penalty()
        in_left -= fit_left
        in_right -= fit_right
        gradient = self._joined(in_left, in_right)
        gradient /= self.scales
        return penalty - fit, gradient

    def residual(self, gradient: Vector) -> float:
        """Return the size of a gradient in the scaled variables, as the certificate measures it."""
        in_left, in_right = self._parted(gradient * self.scales)
        in_left *= self.left_weights[self.left_varies]
        in_right *= self.right_weights[self.right_varies]
        return float(max(np.linalg.norm(in_left), np.linalg.norm(in_right)))

    def point(self, position: Vector) -> Point:
        """Return the point at this position, its factors brought to singular triples."""
        self._place(position)
        U, s, V = singular_triples(self.left[:, 1:-1], self.right[:, 1:-1])
        k = int(np.count_nonzero(s > NEGLIGIBLE * np.max(s, initial=0.0)))
        mean = self._mean()
        return Point(U, s, V, self.left[:, 0] - mean, self.right[:, -1], mean).first(k)

    def _joined(self, left: Matrix, right: Matrix) -> Vector:
        """Return the entries that vary of two such factors as one vector."""
        return np.concatenate((left[:, self.left_varies].ravel(), right[:, self.right_varies].ravel()))

    def _parted(self, flat: Vector) -> tuple[Matrix, Matrix]:
        """Undo ``_joined``."""
        m, n = self.objective.shape
        width = flat.size // (m + n)
        return flat[: m * width].reshape(m, width), flat[m * width :].reshape(n, width)

    def _place(self, position: Vector) -> None:
        self.left[:, self.left_varies], self.right[:, self.right_varies] = self._parted(position / self.scales)

    def _mean(self) -> float:
        """Return the μ that minimises ½κ_a‖α − μ‖² + ½κ_μ(μ − μ₀)²; 0 without effects."""
        prior = self.objective.prior.effects
        if prior is None:
            return 0.0
        total = prior.row * float(self.left[:, 0].sum()) + prior.mean * prior.centre
        return total / (prior.row * len(self.left) + prior.mean)

    def _penalty(self) -> tuple[float, Matrix, Matrix]:
        """Return all of F but the likelihood, and its gradients in the factors."""
        rate, prior = self.objective.prior.rate, self.objective.prior.effects
        in_left, in_right = rate * self.left, rate * self.right
        A, B = self.left[:, 1:-1], self.right[:, 1:-1]
        value = 0.5 * rate * float(np.einsum("ik,ik", A, A) + np.einsum("jk,jk", B, B))
        if prior is not None:
            mean, b = self._mean(), self.right[:, -1]
            a = self.left[:, 0] - mean
            in_left[:, 0], in_right[:, -1] = prior.row * a, prior.column * b
            value += 0.5 * float(prior.row * (a @ a) + prior.column * (b @ b) + prior.mean * (mean - prior.centre) ** 2)
        return value, in_left, in_right


def _scales(objective: Objective, curvatures: csr_array, left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Return the roots of the second derivatives of F in the entries of the factors, each by itself."""
    prior = objective.prior
    in_left, in_right = curvatures @ right**2, curvatures.T @ left**2
    in_left[:, 1:] += prior.rate
    in_right[:, :-1] += prior.rate
    in_left[:, 0] += prior.rate if prior.effects is None else prior.effects.row
    in_right[:, -1] += prior.rate if prior.effects is None else prior.effects.column
    return np.sqrt(in_left), np.sqrt(in_right)


def _weights(objective: Objective, curvatures: csr_array, s: Vector) -> tuple[Vector, Vector]:
    """Return what to multiply gradients in the columns of the factors by, to have them as the certificate measures.

    At singular triples the gradient in A is (λU − GV)√s, so √s is divided out.  But a component on its way to zero must
    not hold up the search: where s is below λ over the largest curvature, a proximal step will see to it.
    """
    m, n = objective.shape
    largest = float(curvatures.max()) or objective.prior.precision
    shares = 1.0 / np.sqrt(s + objective.prior.rate / largest)
    return np.concatenate(([n**-0.5], shares, [0.0])), np.concatenate(([0.0], shares, [m**-0.5]))
