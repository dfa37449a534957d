"""Conditional log densities against SciPy's densities of the model, and their gradients against differences."""

from collections.abc import Callable

import numpy as np

from manifill.problem import Gaussian, Observations
from manifill.problem.conditionals import FactorGivenRest, GaussianLogScales, LogScales
from manifill.problem.passes import component_gram
from manifill.types import Matrix, Vector
from tests.problem.cells import ragged_observations
from tests.problem.likelihoods import CASES, Case, for_each_case

RANK, PRECISION, RATE = 3, 1.7, 0.6


def evaluate(target: object, position: Vector) -> tuple[float, Vector]:
    gradient = np.full_like(position, np.nan)
    return target.log_density_gradient(position, gradient), gradient


def check_gradient(target: object, position: Vector) -> None:
    h = 1e-5
    differences = [
        (evaluate(target, position + h * e)[0] - evaluate(target, position - h * e)[0]) / (2 * h)
        for e in np.eye(position.size)
    ]
    np.testing.assert_allclose(evaluate(target, position)[1], differences, rtol=1e-6, atol=1e-7)


def check_differences(target: object, log_density: Callable[[Vector], float], positions: Matrix) -> None:
    """The target and ``log_density`` may differ by a constant."""
    ours = np.array([evaluate(target, position)[0] for position in positions])
    theirs = np.array([log_density(position) for position in positions])
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-9, atol=1e-9)


def problem(case: Case) -> tuple[Observations, Observations, Matrix, Vector, Matrix]:
    """Return observations, the same with encoded values, U, s and V (which need not be orthonormal here)."""
    rng = np.random.default_rng(1)
    given = ragged_observations(rng, np.array(case.values))
    rows, cols, values = given.triples()
    encoded = Observations.from_triples(rows, cols, case.likelihood.encode(values), given.shape)
    m, n = given.shape
    return given, encoded, rng.standard_normal((m, RANK)), rng.exponential(size=RANK), rng.standard_normal((n, RANK))


def log_likelihood(case: Case, observations: Observations, X: Matrix) -> float:
    """Return the model's log likelihood, with the noise at unit scale multiplied by the precision."""
    scale = PRECISION if case.likelihood.has_noise else 1.0
    return scale * sum(float(case.log_density(y, X[i, j])) for i, j, y in zip(*observations.triples(), strict=True))


def precision(case: Case) -> float:
    return PRECISION if case.likelihood.has_noise else 1.0


@for_each_case
def test_left_factor(case: Case) -> None:
    given, encoded, U, s, V = problem(case)
    target = FactorGivenRest(encoded.by_row, case.likelihood, precision(case), V * s)
    check_gradient(target, U.ravel())
    positions = np.random.default_rng(2).standard_normal((4, U.size))
    check_differences(target, lambda u: log_likelihood(case, given, u.reshape(U.shape) * s @ V.T), positions)


@for_each_case
def test_right_factor(case: Case) -> None:
    given, encoded, U, s, V = problem(case)
    target = FactorGivenRest(encoded.by_column, case.likelihood, precision(case), U * s)
    check_gradient(target, V.ravel())
    positions = np.random.default_rng(3).standard_normal((4, V.size))
    check_differences(target, lambda v: log_likelihood(case, given, U * s @ v.reshape(V.shape).T), positions)


@for_each_case
def test_log_scales(case: Case) -> None:
    """s ~ Exp(λ) in z = log s: the density of z is that of s times the Jacobian eᶻ."""
    given, encoded, U, s, V = problem(case)
    scratch = np.empty((2, *U.shape))
    target = LogScales(encoded.by_row, case.likelihood, precision(case), RATE, U, V, *scratch)
    check_gradient(target, np.log(s))

    def log_density(z: Vector) -> float:
        return log_likelihood(case, given, U * np.exp(z) @ V.T) - RATE * np.exp(z).sum() + z.sum()

    check_differences(target, log_density, np.random.default_rng(4).standard_normal((4, RANK)))


def test_gaussian_log_scales() -> None:
    """The quadratic form is the pass over the cells, about any origin."""
    _, encoded, U, s, V = problem(CASES["gaussian"])
    gram, moments = np.empty((RANK, RANK)), np.empty(RANK)
    component_gram(encoded.by_row, U, V, s, gram, moments)
    quadratic = GaussianLogScales(gram, moments, s, PRECISION, RATE)
    direct = LogScales(encoded.by_row, Gaussian(), PRECISION, RATE, U, V, *np.empty((2, *U.shape)))
    check_gradient(quadratic, np.log(s))
    positions = np.random.default_rng(5).standard_normal((4, RANK))
    check_differences(quadratic, lambda z: evaluate(direct, z)[0], positions)
    for z in positions:
        np.testing.assert_allclose(evaluate(quadratic, z)[1], evaluate(direct, z)[1], rtol=1e-9, atol=1e-10)
