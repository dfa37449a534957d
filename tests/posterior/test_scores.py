"""Scores against closed forms, brute force and SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import expit, logsumexp

from manifill.base.arrays import Array, Vector
from manifill.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian
from manifill.posterior import Draws, Score, predict, predictive, sample_predictive, score
from manifill.posterior.scores import _crps
from tests.posterior.runs import EFFECT_VARIABLES, KINDS, N, dense_draws, random_run
from tests.posterior.test_predictive import TRANSPARENT

ROWS, COLS = np.array([0, 5, 2, 2, 0, 1]), np.array([3, 0, 1, 1, 3, 2])
VALUES = np.array([0.0, 1.5, 3.5, 5.0, 0.5, 1.0])
SCALES = np.array([0.001, 1.0, 10.0, 500.0])

LIKELIHOODS = (Gaussian(), SoftplusGaussian(), Binomial(10, 0.5))
for_each_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda likelihood: likelihood.name)


def scored(draws: Draws, likelihood: Likelihood, values: ArrayLike = VALUES, interval: float = 0.9) -> Score:
    return score(np.random.default_rng(0), draws, likelihood, ROWS, COLS, values, interval)


def brute_crps(samples: Array, values: Vector) -> Vector:
    """Return E|y − v| − ½ E|y − y′| over all pairs of different samples, (T, k)."""
    total = len(samples)
    pairs = np.abs(samples[:, None] - samples[None]).sum(axis=(0, 1)) / (total * (total - 1))
    return np.asarray(np.abs(samples - values).mean(axis=0) - 0.5 * pairs)


@for_each_likelihood
@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_that_of_predictions_and_samples(likelihood: Likelihood, kind: str) -> None:
    draws = random_run([10, 10], variables=KINDS[kind])
    found = scored(draws, likelihood, interval=0.6)
    prediction = predict(np.random.default_rng(0), draws, likelihood, ROWS, COLS)
    samples = sample_predictive(np.random.default_rng(0), draws, likelihood, ROWS, COLS)
    bounds = np.quantile(samples, (0.2, 0.8), axis=0)
    assert found.rmse == pytest.approx(np.sqrt(np.mean((prediction.mean - VALUES) ** 2)), rel=1e-12)
    assert found.mae == pytest.approx(np.mean(np.abs(prediction.mean - VALUES)), rel=1e-12)
    assert found.crps == pytest.approx(np.mean(brute_crps(samples, VALUES)), rel=1e-6)
    assert found.coverage == np.mean((bounds[0] <= VALUES) & (bounds[1] >= VALUES))
    assert (found.interval, found.cells) == (0.6, 6)


def test_many_cells_are_scored_by_the_draws_that_predict_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictive, "SAMPLES", 1)
    monkeypatch.setattr(predictive, "ENOUGH_DRAWS", 6)
    draws = random_run([10, 10])
    found, prediction = scored(draws, Gaussian()), predict(np.random.default_rng(0), draws, Gaussian(), ROWS, COLS)
    assert found.rmse == pytest.approx(np.sqrt(np.mean((prediction.mean - VALUES) ** 2)), rel=1e-12)
    assert found == score(np.random.default_rng(0), draws.thinned(6), Gaussian(), ROWS, COLS, VALUES)
    monkeypatch.undo()
    assert found != scored(draws, Gaussian())


@pytest.mark.parametrize("kind", KINDS)
def test_log_density_is_that_of_the_mixture(kind: str) -> None:
    draws = random_run([10, 10], variables=KINDS[kind])
    X, sigma = dense_draws(draws)
    by_column = np.broadcast_to(sigma if sigma.ndim == 2 else sigma[:, None], (len(X), N))
    each = stats.norm.logpdf(VALUES, X[:, ROWS, COLS], by_column[:, COLS])
    expected = np.mean(logsumexp(each, axis=0) - np.log(len(X)))
    assert scored(draws, Gaussian()).log_density == pytest.approx(expected, rel=1e-12)


def test_log_density_of_counts_is_that_of_their_probability() -> None:
    draws = random_run([10, 10])
    X, _ = dense_draws(draws)
    each = stats.binom.logpmf(np.rint(2 * VALUES), 10, expit(X[:, ROWS, COLS]))
    expected = np.mean(logsumexp(each, axis=0) - np.log(len(X)))
    assert scored(draws, Binomial(10, 0.5)).log_density == pytest.approx(expected, rel=1e-12)


def test_log_density_survives_densities_too_small_for_a_number() -> None:
    found = scored(random_run([10]), Gaussian(), VALUES + 1e6)
    assert -1e13 < found.log_density < -1e10


def test_scores_are_in_the_units_of_the_data() -> None:
    draws = random_run([20, 20], variables=EFFECT_VARIABLES)
    in_units = replace(draws, attributes={**draws.attributes, "column_scales": SCALES.tolist()})
    only = COLS == 3
    cells = ROWS[only], COLS[only]
    plain = score(np.random.default_rng(0), draws, Gaussian(), *cells, VALUES[only])
    ours = score(np.random.default_rng(0), in_units, Gaussian(), *cells, 500.0 * VALUES[only])
    for name in ("rmse", "mae", "crps"):
        assert getattr(ours, name) == pytest.approx(500.0 * getattr(plain, name), rel=1e-6)
    assert ours.log_density == pytest.approx(plain.log_density - np.log(500.0), rel=1e-12)
    assert ours.coverage == plain.coverage


def test_crps_is_that_of_all_pairs() -> None:
    samples, values = np.random.default_rng(1).normal(size=(50, 4)), np.array([-1.0, 0.0, 0.3, 20.0])
    errors = np.sort(samples - values, axis=0)
    np.testing.assert_allclose(_crps(errors), brute_crps(samples, values), rtol=1e-12)


def test_crps_has_the_mean_of_the_closed_form() -> None:
    """Of four samples at a time, so that an estimate that is not fair would be off; |z| < 5 in 3 cells: 2e-6."""
    values = np.array([-1.0, 0.0, 2.0])
    samples = np.random.default_rng(2).normal(size=(4, 100_000, 3))
    found = _crps(np.sort((samples - values).reshape(4, -1), axis=0)).reshape(-1, 3)
    exact = values * (2.0 * stats.norm.cdf(values) - 1.0) + 2.0 * stats.norm.pdf(values) - 1.0 / np.sqrt(np.pi)
    z = (found.mean(axis=0) - exact) / (found.std(axis=0) / np.sqrt(len(found)))
    assert np.abs(z).max() < 5.0


def test_crps_of_a_single_draw_is_the_absolute_error() -> None:
    assert _crps(np.array([[-2.0, 3.0]])).tolist() == [2.0, 3.0]


def test_single_precision_of_samples_does_not_show_far_from_zero() -> None:
    """The data at 1e8, where neighbours in single precision are 8 apart."""
    draws, far = random_run([50, 50], variables=EFFECT_VARIABLES), 1e8
    there = replace(draws, posterior={**draws.posterior, "mu": draws.mu + far})
    near, ours = scored(draws, Gaussian()), scored(there, Gaussian(), VALUES + far)
    assert ours.crps == pytest.approx(near.crps, rel=1e-5)
    assert ours.coverage == near.coverage


@pytest.mark.parametrize("unit", [2.0**140, 2.0**-170])
def test_single_precision_of_samples_does_not_show_in_any_unit(unit: float) -> None:
    """The units are those that single precision does not reach."""
    draws, other = (random_run([20, 20], variables=KINDS["A B"]) for _ in range(2))
    for name in ("A", "sigma"):
        other.posterior[name][:] *= unit
    found, in_unit = scored(draws, Gaussian()), scored(other, Gaussian(), unit * VALUES)
    assert in_unit.crps == pytest.approx(unit * found.crps, rel=1e-6)
    assert in_unit.coverage == found.coverage
    bounds, in_units = (predict(np.random.default_rng(0), each, Gaussian(), ROWS, COLS) for each in (draws, other))
    np.testing.assert_allclose(in_units.lower, unit * bounds.lower, rtol=1e-6)
    np.testing.assert_allclose(in_units.upper, unit * bounds.upper, rtol=1e-6)


@pytest.mark.parametrize("cells_in_block", [1, 2, 4])
def test_blocks_of_cells_do_not_show(monkeypatch: pytest.MonkeyPatch, cells_in_block: int) -> None:
    draws = random_run([10, 10])
    whole = scored(draws, TRANSPARENT)
    monkeypatch.setattr(predictive, "SAMPLE_BYTES", cells_in_block * 20 * 4)
    blocks = scored(draws, TRANSPARENT)
    for name in ("rmse", "mae", "log_density", "crps", "coverage"):
        assert getattr(blocks, name) == pytest.approx(getattr(whole, name), rel=1e-13)


def test_coverage_is_as_often_as_it_says() -> None:
    """Values drawn as the posterior has it; 6000 cells: |z| < 5, 6e-7 (the bounds' own error is as large again)."""
    draws = random_run([2000, 2000])
    rows, cols = np.tile(ROWS, 1000), np.tile(COLS, 1000)
    X, sigma = dense_draws(draws)
    rng = np.random.default_rng(3)
    some = rng.integers(len(X), size=rows.size)
    values = rng.normal(X[some, rows, cols], sigma[some])
    found = score(np.random.default_rng(0), draws, Gaussian(), rows, cols, values)
    assert abs(found.coverage - 0.9) < 5 * np.sqrt(2 * 0.9 * 0.1 / rows.size)


@pytest.mark.parametrize("step", [1.0, 0.5, 0.1, 0.3])
def test_bounds_of_counts_are_within_their_interval(step: float) -> None:
    """All samples are three of three, and so are both bounds; 3 · 0.1 is not 0.3, nor is 0.3 in single precision."""
    draws = random_run([10, 10], variables=EFFECT_VARIABLES)
    certain = replace(draws, posterior={**draws.posterior, "mu": np.full_like(draws.mu, 1e3)})
    values = np.full(ROWS.size, float(f"{3 * step:.6g}"))  # as a file would have them
    for given in (values, values.astype(np.float32)):
        found = scored(certain, Binomial(3, step), given)
        assert (found.coverage, found.crps) == (1.0, 0.0)


def test_a_score_is_a_line_and_a_number() -> None:
    found = Score(0.83512, 0.64, -1.2345678, 0.4512, 0.9041, 0.9, 20168)
    assert float(found) == -1.2345678
    assert str(found) == (
        "RMSE 0.8351, MAE 0.64, CRPS 0.4512, log density -1.235, 90 % intervals cover 90.4 % of 20168 cells"
    )


@pytest.mark.parametrize(
    ("rows", "cols", "values", "message"),
    [
        ([0, 1], [0, 1], [1.0], "values must be a list of 2 numbers"),
        ([0], [0], [[1.0]], "values must be a list of 1 number, one"),
        ([0], [0], ["a"], "values must be numbers"),
        ([0, 1], [0, 1], [1.0, np.nan], r"values\[1\] is nan"),
        ([], [], [], "at least one cell"),
        ([9], [0], [1.0], r"rows\[0\] is 9"),
        ([0, 1], [0], [1.0], "2 rows and 1 cols"),
    ],
)
def test_cells_without_a_value_are_refused(rows: ArrayLike, cols: ArrayLike, values: ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score(np.random.default_rng(0), random_run([3]), Gaussian(), rows, cols, values)


def test_a_broken_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="interval"):
        scored(random_run([3]), Gaussian(), interval=90.0)
