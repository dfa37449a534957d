"""The exact answers are exact: they stop changing with the grid, and agree with the prior and with weighted draws."""

import numpy as np
import pytest
from scipy import stats

from manifill.problem import Gaussian, Model, Observations
from manifill.types import Matrix, Vector
from tests.exact import baseline, quadrature
from tests.exact.cases import CASES, Case
from tests.exact.marginals import Marginal

FINER = {
    quadrature.marginals: {"ray_nodes": 44, "s_nodes": 64},
    baseline.marginals: {"angles": 96, "lengths": 48, "logs": 28},
}


@pytest.mark.parametrize(
    "name", ["gaussian", "softplus, known noise", "binomial", "factors, known precisions", "factors"]
)
def test_a_finer_grid_changes_nothing(name: str) -> None:
    """The test against the samplers has standard errors of about 1 %, and 0.5 % for probabilities."""
    case = CASES[name]
    coarse = case.marginals(case.model, case.observations)
    fine = case.marginals(case.model, case.observations, **FINER[case.marginals])
    assert coarse.keys() == fine.keys()
    for quantity in coarse:
        assert_close(coarse[quantity], fine[quantity])


def assert_close(one: Marginal, other: Marginal) -> None:
    assert one.mean == pytest.approx(other.mean, abs=5e-5)
    assert one.thresholds == other.thresholds
    np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=0, atol=1.5e-3)
    if one.variance is not None:
        assert one.variance == pytest.approx(other.variance, abs=1e-3)


# One cell observed with next to no precision leaves the prior as it was.
NOTHING = Observations.from_triples([0], [0], [0.0], (3, 2))


def test_without_information_the_prior_remains() -> None:
    known = quadrature.marginals(Model(1, Gaussian(), rate=1.0, precision=1e-12), NOTHING)
    s, x = known["s"], known["X[2,1]"]
    assert (s.mean, s.variance) == pytest.approx((1.0, 1.0), abs=1e-6)
    np.testing.assert_allclose(s.probabilities, stats.expon.cdf(s.thresholds), atol=1e-6)
    assert (x.mean, x.variance) == pytest.approx((0.0, 2.0 / 6.0), abs=1e-6)


def test_without_information_the_prior_of_the_baseline_remains() -> None:
    known = baseline.marginals(Model(1, Gaussian(), 1.0, precision=1e-12, factor_precision=0.5), NOTHING)
    assert (known["X[2,1]"].mean, known["X[2,1]"].variance) == pytest.approx((0.0, 4.0), abs=1e-3)


DRAWS = 400_000


def prior_draws(case: Case, rng: np.random.Generator) -> Matrix:
    """Return X (draws, 3, 2) from the prior of a case with rate 1 or factor precision 0.8."""
    u, v = rng.standard_normal((DRAWS, 3)), rng.standard_normal((DRAWS, 2))
    if case.marginals is baseline.marginals:
        return u[:, :, None] * v[:, None, :] / 0.8
    s = rng.exponential(size=DRAWS) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
    return s[:, None, None] * u[:, :, None] * v[:, None, :]


def weights(case: Case, X: Matrix) -> Vector:
    total = np.zeros(len(X))
    for i, j, y in zip(*case.observations.triples(), strict=True):
        x = X[:, i, j]
        mean = np.log1p(np.exp(x)) if case.model.likelihood.name == "softplus" else x
        total += case.model.precision * -0.5 * (y - mean) ** 2
    return np.exp(total)


@pytest.mark.parametrize("name", ["gaussian, known noise", "softplus, known noise", "factors, known precisions"])
def test_weighted_prior_draws_agree(name: str) -> None:
    """Importance sampling, another way to the same integrals: 72 comparisons with |z| < 4, false-alarm rate 0.5 %."""
    case = CASES[name]
    X = prior_draws(case, np.random.default_rng(1))
    w = weights(case, X)
    w /= w.sum()
    known = case.marginals(case.model, case.observations)
    for i, j in np.ndindex(3, 2):
        x, exact = X[:, i, j], known[f"X[{i},{j}]"]
        columns = np.stack([x, *(x <= threshold for threshold in exact.thresholds)], axis=1)
        expected = np.array([exact.mean, *exact.probabilities])
        error = np.sqrt(w**2 @ (columns - expected) ** 2)
        assert np.abs((w @ columns - expected) / error).max() < 4.0
