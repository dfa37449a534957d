"""The mode among matrices of a given rank, by optimisation over the factors of L = A Bᵀ.

λ‖L‖_* is the minimum of ½λ(‖A‖² + ‖B‖²) over all such factors.  In the factors the penalty is therefore smooth, and a
step costs a pass over the cells instead of a singular value decomposition.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from manifill.base.arrays import Matrix, Vector
from manifill.map_estimation.lbfgs import minimise
from manifill.map_estimation.objective import Objective
from manifill.map_estimation.point import Point
from manifill.unknowns import components_of_product

__all__ = ["Polished", "polish"]

# Singular values below this fraction of the largest are rounding errors.
NEGLIGIBLE = 1e-14


class Polished(NamedTuple):
    """A point, the number of steps, and whether the search ended because no step improved F."""

    point: Point
    steps: int
    stuck: bool


def polish(objective: Objective, point: Point, accuracy: float, most_steps: int) -> Polished:
    """Return a mode of the same rank near the point, with a gradient of F of at most ``accuracy``.

    The gradient is measured as in the certificate, so ``accuracy`` is comparable to λ.
    """
    search = _Search(objective, point)
    found = minimise(search.value_and_gradient, search.start, lambda g: search.residual(g) <= accuracy, most_steps)
    return Polished(search.point(found.position), found.steps, found.stuck)


class _Search:
    """F as a function of a flat vector: the free entries of the two factors [α, A, 1] and [1, B, b].

    α = μ + a, and μ is not a variable but the minimiser of F given α.  Variables are multiplied by the roots of the
    second derivatives of F at the start, so that the curvature is about 1 in all of them, for rows with many cells or
    few and for components with large or small singular values.
    """

    def __init__(self, objective: Objective, point: Point) -> None:
        self.objective = objective
        self.left, self.right = point.factors()
        has_effects = objective.prior.effects is not None
        self.left_varies = slice(0 if has_effects else 1, -1)
        self.right_varies = slice(1, None if has_effects else -1)
        curvatures = objective.curvatures(point)
        curvatures.data = np.maximum(curvatures.data, 0.0)  # a likelihood need not be concave; scales are square roots
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
        """Return the norm, as in the certificate, of a gradient in the scaled variables."""
        in_left, in_right = self._parted(gradient * self.scales)
        in_left *= self.left_weights[self.left_varies]
        in_right *= self.right_weights[self.right_varies]
        return float(max(np.linalg.norm(in_left), np.linalg.norm(in_right)))

    def point(self, position: Vector) -> Point:
        """Return the point at this position, with its factors converted to singular triples."""
        self._place(position)
        U, s, V = components_of_product(self.left[:, 1:-1], self.right[:, 1:-1])
        k = int(np.count_nonzero(s > NEGLIGIBLE * np.max(s, initial=0.0)))
        mean = self._mean()
        return Point(U, s, V, self.left[:, 0] - mean, self.right[:, -1], mean).first(k)

    def _joined(self, left: Matrix, right: Matrix) -> Vector:
        """Return the free entries of the two factors as one vector."""
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
        """Return F without the likelihood, and its gradients in the factors."""
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
    """Return the roots of the diagonal second derivatives of F in the entries of the factors."""
    prior = objective.prior
    in_left, in_right = curvatures @ right**2, curvatures.T @ left**2
    in_left[:, 1:] += prior.rate
    in_right[:, :-1] += prior.rate
    in_left[:, 0] += prior.rate if prior.effects is None else prior.effects.row
    in_right[:, -1] += prior.rate if prior.effects is None else prior.effects.column
    return np.sqrt(in_left), np.sqrt(in_right)


def _weights(objective: Objective, curvatures: csr_array, s: Vector) -> tuple[Vector, Vector]:
    """Return the weights of the factors' columns that convert gradients to the norm of the certificate.

    At singular triples the gradient in A is (λU − GV)√s, so √s is divided out.  A component that shrinks to zero must
    not delay convergence, so the weight is bounded if s is below λ over the largest curvature: a proximal step removes
    such components.
    """
    m, n = objective.shape
    largest = float(curvatures.max()) or objective.prior.precision
    shares = 1.0 / np.sqrt(s + objective.prior.rate / largest)
    return np.concatenate(([n**-0.5], shares, [0.0])), np.concatenate(([0.0], shares, [m**-0.5]))
