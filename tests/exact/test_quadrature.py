"""The exact answers are exact: they stop changing with the grid, and agree with the prior and with weighted draws."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from manifill.likelihoods import Gaussian, WithNoise
from manifill.problem import Model, Observations
from manifill.unknowns import EffectsPrior
from tests.exact import baseline, quadrature
from tests.exact.cases import CASES
from tests.exact.marginals import Marginal

FINER: dict[Callable[..., dict[str, Marginal]], dict[str, int]] = {
    quadrature.marginals: {"ray_nodes": 44, "s_nodes": 64},
    baseline.marginals: {"angles": 96, "lengths": 48, "logs": 36},
}


@pytest.mark.parametrize(
    "name",
    [
        "gaussian",
        "gaussian, learned rate",
        "gaussian, heavy-tailed noise",
        "gaussian, effects",
        pytest.param("joint, gaussian, noise by column", marks=pytest.mark.statistical),  # grids of many points
        pytest.param("joint, gaussian, student", marks=pytest.mark.statistical),
        "softplus, known noise",
        "binomial",
        "factors, known precisions",
        "factors",
        "joint, gaussian, effects, gaps",
        "factors, gaps",
    ],
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
    known = quadrature.marginals(Model(1, Gaussian(), rate=1.0, noise=WithNoise(1e-12)), NOTHING)
    s, x = known["s"], known["X[2,1]"]
    assert (s.mean, s.variance) == pytest.approx((1.0, 1.0), abs=1e-6)
    np.testing.assert_allclose(s.probabilities, stats.expon.cdf(s.thresholds), atol=1e-6)
    assert (x.mean, x.variance) == pytest.approx((0.0, 2.0 / 6.0), abs=1e-6)


def test_without_information_the_prior_of_the_baseline_remains() -> None:
    known = baseline.marginals(Model(1, Gaussian(), 1.0, noise=WithNoise(1e-12), factor_precision=0.5), NOTHING)
    assert (known["X[2,1]"].mean, known["X[2,1]"].variance) == pytest.approx((0.0, 4.0), abs=1e-3)


def test_without_information_the_prior_of_effects_remains() -> None:
    model = Model(1, Gaussian(), rate=1.0, noise=WithNoise(1e-12), effects=EffectsPrior(0.3, 0.5, 2.0, 4.0))
    x = quadrature.marginals(model, NOTHING)["total[2,1]"]
    assert (x.mean, x.variance) == pytest.approx((0.3, 2.0 + 0.5 + 0.25 + 2.0 / 6.0), abs=1e-6)
