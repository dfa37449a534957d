"""Conditional log densities against SciPy's densities of the model, and their gradients against differences."""

from typing import NamedTuple

import numpy as np
import pytest

from manifill.base.arrays import Matrix, Vector
from manifill.kernels.cell_passes import component_gram
from manifill.problem import Observations
from manifill.problem.conditional_densities import FactorGivenRest, GaussianLogScales, LogScales
from tests.problem.cells import ragged_observations
from tests.problem.differences import check_differences, check_gradient, evaluate
from tests.problem.likelihoods import CASES, Case, for_each_case

RANK, PRECISION, RATE = 3, 1.7, 0.6


class Problem(NamedTuple):
    """Observations, the same with encoded values, factors (which need not be orthonormal here) and effects' columns."""

    given: Observations
    encoded: Observations
    U: Matrix
    s: Vector
    V: Matrix
    left_effects: Matrix  # (m, 2), or (m, 0)
    right_effects: Matrix

    @classmethod
    def of(cls, case: Case, effects: bool) -> "Problem":
        rng = np.random.default_rng(1)
        given = ragged_observations(rng, np.array(case.values))
        rows, cols, values = given.triples()
        encoded = Observations.from_triples(rows, cols, case.likelihood.encode(values), given.shape)
        (m, n), k = given.shape, 2 if effects else 0
        factors = rng.standard_normal((m, RANK)), rng.exponential(size=RANK), rng.standard_normal((n, RANK))
        return cls(given, encoded, *factors, rng.standard_normal((m, k)), rng.standard_normal((n, k)))

    def log_likelihood(self, case: Case, U: Matrix, s: Vector, V: Matrix) -> float:
        """Return the model's log likelihood, with the noise at unit scale multiplied by the precision."""
        X = U * s @ V.T + self.left_effects @ self.right_effects.T
        cells = zip(*self.given.triples(), strict=True)
        return precision(case) * sum(float(case.log_density(y, X[i, j])) for i, j, y in cells)


def precision(case: Case) -> float:
    return PRECISION if case.likelihood.has_noise else 1.0


def beside(factor: Matrix, effects: Matrix) -> tuple[Matrix, Matrix]:
    """Return scratch for a factor beside the effects' columns, or nothing where there are none."""
    if not effects.size:
        return np.empty((0, RANK)), np.empty((0, RANK))
    extended = np.hstack([np.full_like(factor, np.nan), effects])
    return extended, np.full_like(extended, np.nan)


with_and_without_effects = pytest.mark.parametrize("effects", [False, True], ids=["plain", "effects"])


@with_and_without_effects
@for_each_case
def test_left_factor(case: Case, effects: bool) -> None:
    p = Problem.of(case, effects)
    other = np.hstack([p.V * p.s, p.right_effects])
    target = FactorGivenRest(
        p.encoded.by_row, case.likelihood.compiled(), precision(case), other, *beside(p.U, p.left_effects)
    )
    check_gradient(target, p.U.ravel())
    positions = np.random.default_rng(2).standard_normal((4, p.U.size))
    check_differences(target, lambda u: p.log_likelihood(case, u.reshape(p.U.shape), p.s, p.V), positions)


@with_and_without_effects
@for_each_case
def test_right_factor(case: Case, effects: bool) -> None:
    p = Problem.of(case, effects)
    other = np.hstack([p.U * p.s, p.left_effects])
    scratch = beside(p.V, p.right_effects)
    target = FactorGivenRest(p.encoded.by_column, case.likelihood.compiled(), precision(case), other, *scratch)
    check_gradient(target, p.V.ravel())
    positions = np.random.default_rng(3).standard_normal((4, p.V.size))
    check_differences(target, lambda v: p.log_likelihood(case, p.U, p.s, v.reshape(p.V.shape)), positions)


def log_scales(case: Case, p: Problem) -> LogScales:
    scratch = np.hstack([np.full_like(p.U, np.nan), p.left_effects])
    right = np.hstack([p.V, p.right_effects])
    likelihood, products = case.likelihood.compiled(), np.full_like(scratch, np.nan)
    return LogScales(p.encoded.by_row, likelihood, precision(case), RATE, p.U, right, scratch, products)


@with_and_without_effects
@for_each_case
def test_log_scales(case: Case, effects: bool) -> None:
    """s ~ Exp(λ) in z = log s: the density of z is that of s times the Jacobian eᶻ."""
    p = Problem.of(case, effects)
    target = log_scales(case, p)
    check_gradient(target, np.log(p.s))

    def log_density(z: Vector) -> float:
        return float(p.log_likelihood(case, p.U, np.exp(z), p.V) - RATE * np.exp(z).sum() + z.sum())

    check_differences(target, log_density, np.random.default_rng(4).standard_normal((4, RANK)))


def test_gaussian_log_scales() -> None:
    """The quadratic form is the pass over the cells, about any origin."""
    p = Problem.of(CASES["gaussian"], effects=False)
    gram, moments = np.empty((RANK, RANK)), np.empty(RANK)
    component_gram(p.encoded.by_row, p.U, p.V, p.s, gram, moments)
    quadratic = GaussianLogScales(gram, moments, p.s, PRECISION, RATE)
    direct = log_scales(CASES["gaussian"], p)
    check_gradient(quadratic, np.log(p.s))
    positions = np.random.default_rng(5).standard_normal((4, RANK))
    check_differences(quadratic, lambda z: evaluate(direct, z)[0], positions)
    for z in positions:
        np.testing.assert_allclose(evaluate(quadratic, z)[1], evaluate(direct, z)[1], rtol=1e-9, atol=1e-10)
