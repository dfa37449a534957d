"""Small problems and the plainest of solvers."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian
from manifill.likelihoods.poisson import Poisson
from manifill.map_estimation import EffectPrecisions, Objective, Point, Prior
from manifill.map_estimation.point import origin
from manifill.problem import Observations

LIKELIHOODS: dict[str, Likelihood] = {
    "gaussian": Gaussian(),
    "softplus": SoftplusGaussian(),
    "binomial": Binomial(5),
    "poisson": Poisson(),
}
EFFECTS = EffectPrecisions(row=0.7, column=0.4, mean=0.1, centre=0.3)


def some_observations(
    likelihood: Likelihood, shape: tuple[int, int] = (12, 9), share: float = 0.6, rank: int = 2, sigma: float = 0.3
) -> Observations:
    """Return a share of the cells of a random matrix, drawn from the likelihood; the last row has none."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    seen = rng.random(shape) < share
    seen[-1] = False
    rows, cols = np.nonzero(seen)
    return Observations.from_triples(rows, cols, likelihood.sample(rng, X[rows, cols], {"sigma": sigma}), shape)


def some_objective(name: str = "gaussian", prior: Prior | None = None) -> Objective:
    """Return the objective of some observations of a likelihood, by name; rate 1.5 unless a prior is given."""
    return Objective.of(some_observations(LIKELIHOODS[name]), LIKELIHOODS[name], prior or Prior(1.5))


def random_point(rng: Generator, shape: tuple[int, int], rank: int, effects: bool) -> Point:
    """Return any point."""
    U, V = (np.linalg.qr(rng.standard_normal((size, rank)))[0] for size in shape)
    point = origin(shape, 0.0)._replace(U=U, s=np.sort(rng.exponential(2.0, rank))[::-1], V=V)
    if not effects:
        return point
    return point._replace(row=rng.standard_normal(shape[0]), column=rng.standard_normal(shape[1]), mean=rng.normal())


def dense_x(point: Point) -> Matrix:
    """Return x in all cells."""
    return point.mean + point.row[:, None] + point.column + (point.U * point.s) @ point.V.T


# log p(y | x) and its derivative, written once more.
DENSITIES = {
    "gaussian": lambda y, x: (-0.5 * (y - x) ** 2, y - x),
    "softplus": lambda y, x: (-0.5 * (y - np.logaddexp(0, x)) ** 2, (y - np.logaddexp(0, x)) * expit(x)),
    "binomial": lambda y, x: (y * x - 5 * np.logaddexp(0, x), y - 5 * expit(x)),
    "poisson": lambda y, x: (y * x - np.exp(x), y - np.exp(x)),
}


def evaluate_all(objective: Objective, X: Matrix) -> tuple[float, Matrix]:
    """Return γ Σ log p and G."""
    cells, gamma = objective.by_row, objective.prior.precision
    at = cells.major_indices, cells.indices
    values, slopes = DENSITIES[objective.likelihood.name](cells.values, X[at])
    G = np.zeros(X.shape)
    G[at] = gamma * slopes
    return gamma * float(values.sum()), G


def shrink(matrix: Matrix, by: float) -> Matrix:
    """Return the matrix with its singular values lowered, at most to zero."""
    left, s, right = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray((left * np.maximum(s - by, 0.0)) @ right)


class Plain(NamedTuple):
    """The unknowns of the plain solver, L whole."""

    L: Matrix
    row: Vector
    column: Vector
    mean: float

    @property
    def X(self) -> Matrix:
        return self.mean + self.row[:, None] + self.column + self.L


def plain_value(objective: Objective, plain: Plain) -> float:
    """Return F."""
    rate, _, effects = objective.prior
    value = rate * float(np.linalg.norm(plain.L, "nuc")) - evaluate_all(objective, plain.X)[0]
    if effects is not None:
        value += 0.5 * effects.row * float(plain.row @ plain.row)
        value += 0.5 * effects.column * float(plain.column @ plain.column)
        value += 0.5 * effects.mean * (plain.mean - effects.centre) ** 2
    return value


def plain_solve(objective: Objective, curvature: float, steps: int) -> Plain:
    """Return the mode after so many proximal gradient steps in L, m×n, each followed by exact effects of a Gaussian."""
    m, n = objective.shape
    here = Plain(np.zeros((m, n)), np.zeros(m), np.zeros(n), objective.origin.mean)
    for _ in range(steps):
        G = evaluate_all(objective, here.X)[1]
        here = here._replace(L=shrink(here.L + G / curvature, objective.prior.rate / curvature))
        if objective.prior.effects is not None:
            here = _with_exact_effects(objective, here)
    return here


def _with_exact_effects(objective: Objective, plain: Plain) -> Plain:
    """Return the Gaussian's best effects beside L: ridge regression on indicators of rows and columns."""
    m, n = objective.shape
    cells, prior = objective.by_row, objective.prior.effects
    assert prior is not None
    rows, cols = cells.major_indices, cells.indices
    design = np.zeros((len(rows), 1 + m + n))
    design[:, 0] = 1.0
    design[np.arange(len(rows)), 1 + rows] = 1.0
    design[np.arange(len(rows)), 1 + m + cols] = 1.0
    ridge = np.concatenate(([prior.mean], np.full(m, prior.row), np.full(n, prior.column)))
    residual = cells.values - prior.centre - plain.L[rows, cols]
    gamma = objective.prior.precision
    found = np.linalg.solve(gamma * design.T @ design + np.diag(ridge), gamma * design.T @ residual)
    return plain._replace(mean=found[0] + prior.centre, row=found[1 : 1 + m], column=found[1 + m :])
