"""Likelihoods: densities against SciPy, slopes against differences, moments against samples."""

import numpy as np
import pytest

from manifill.base.arrays import Vector
from manifill.likelihoods import Binomial, SoftplusGaussian
from tests.problem.likelihoods import CASES, Case, evaluate_cells, for_each_case

GRID = np.linspace(-6.0, 6.0, 25)
UNIT_NOISE = {"sigma": 1.0}


def evaluate(case: Case, value: float, x: Vector) -> Vector:
    """Return rows of log densities and slopes of one value at every x."""
    encoded = np.full(x.size, case.likelihood.encode(np.array([value]))[0])
    return np.array(evaluate_cells(case.likelihood, encoded, x))


@for_each_case
def test_log_density_differs_from_scipy_by_a_constant_only(case: Case) -> None:
    for value in case.values:
        ours, theirs = evaluate(case, value, GRID)[0], case.log_density(value, GRID)
        np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-10, atol=1e-10)


@for_each_case
def test_slope_is_the_derivative(case: Case) -> None:
    h = 1e-5
    for value in case.values:
        ahead, behind = evaluate(case, value, GRID + h)[0], evaluate(case, value, GRID - h)[0]
        np.testing.assert_allclose(evaluate(case, value, GRID)[1], (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-8)


@for_each_case
def test_extreme_x_stays_finite(case: Case) -> None:
    x = np.array([-800.0, 800.0])
    for value in case.values:
        assert np.isfinite(evaluate(case, value, x)).all()
    assert np.isfinite(case.likelihood.mean(x)).all()
    assert np.isfinite(case.likelihood.variance(x, UNIT_NOISE)).all()
    assert np.isfinite(case.likelihood.sample(np.random.default_rng(1), x, UNIT_NOISE)).all()


@for_each_case
def test_samples_have_the_stated_mean_and_variance(case: Case) -> None:
    """|z| < 5 in 48 comparisons: false-alarm rate 3e-5."""
    x, noise, draws = np.array([-3.0, -0.5, 0.0, 0.7, 2.0, 4.0]), {"sigma": 0.7}, 100_000
    y = case.likelihood.sample(np.random.default_rng(2), np.tile(x, (draws, 1)), noise)
    for samples, expected in (
        (y, case.likelihood.mean(x)),
        ((y - case.likelihood.mean(x)) ** 2, case.likelihood.variance(x, noise)),
    ):
        z = (samples.mean(axis=0) - expected) / (samples.std(axis=0) / np.sqrt(draws))
        assert np.abs(z).max() < 5.0


@for_each_case
def test_samples_are_values_it_can_encode(case: Case) -> None:
    y = case.likelihood.sample(np.random.default_rng(3), np.linspace(-3.0, 3.0, 100), UNIT_NOISE)
    encoded = case.likelihood.encode(y)
    assert encoded.shape == y.shape
    assert len(np.unique(encoded)) == len(np.unique(y))


@for_each_case
def test_starting_points_are_finite_and_give_about_the_value(case: Case) -> None:
    encoded = case.likelihood.encode(np.array(case.values))
    x = case.likelihood.starting_point(encoded)
    assert np.isfinite(x).all()
    spread = float(np.ptp(case.values))
    assert np.abs(case.likelihood.mean(x) - case.values).max() < 0.15 * spread


def test_softplus_starts_finite_on_constant_and_negative_data() -> None:
    for values in (np.zeros(3), np.full(3, -2.0), np.full(3, 700.0)):
        assert np.isfinite(SoftplusGaussian().starting_point(values)).all()


def test_names_and_noise() -> None:
    described = [(case.likelihood.name, case.likelihood.has_noise) for case in CASES.values()]
    noiseless = *[("binomial", False)] * 3, ("poisson", False)
    assert described == [("gaussian", True), ("softplus", True), *noiseless]


def test_binomial_encodes_in_steps() -> None:
    assert Binomial(10, 0.5).encode(np.array([0.0, 0.5, 4.5, 5.0])).tolist() == [0.0, 1.0, 9.0, 10.0]
    assert Binomial(3, 0.1).encode(np.array([0.1, 0.1 + 0.2])).tolist() == [1.0, 3.0]
    assert Binomial(4, 1.0, 1.0).encode(np.array([1.0, 4.0, 5.0])).tolist() == [0.0, 3.0, 4.0]
    assert Binomial(2, 0.1, -0.1).encode(np.array([-0.1, 0.0, 0.1])).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("likelihood", "values", "message"),
    [
        (Binomial(5), [1.0, 6.0], "the data hold 6"),
        (Binomial(5), [-1.0], "the data hold -1"),
        (Binomial(5), [1.0, 2.0, 2.5], r"the data hold 2\.5"),
        (Binomial(5, 0.5), [5.0], r"trials=5, step=0\.5 and offset=0\.0 values are 0, 0\.5, …, 2\.5"),
        (Binomial(4, 1.0, 1.0), [0.0], r"the data hold 0, .*offset=1\.0 values are 1, 2, …, 5"),
        (Binomial(4, 1.0, np.inf), [1.0], "offset must be"),
        (Binomial(0), [0.0], "trials must be"),
        (Binomial(2.5), [0.0], "trials must be"),  # type: ignore[arg-type]
        (Binomial(5, 0.0), [0.0], "step must be"),
        (Binomial(5, -1.0), [0.0], "step must be"),
        (Binomial(5, np.nan), [0.0], "step must be"),
    ],
)
def test_binomial_refuses(likelihood: Binomial, values: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        likelihood.encode(np.array(values))
