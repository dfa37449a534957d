"""Predictions against the same computed with all of X at once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from manifill.base.arrays import Array
from manifill.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian, custom_likelihood
from manifill.posterior import Draws, complete, predict, predictive, sample_predictive
from tests.posterior.runs import EFFECT_VARIABLES, KINDS, NOISELESS_VARIABLES, M, N, dense_draws, random_run

ROWS, COLS = np.array([0, 5, 2, 2, 0]), np.array([3, 0, 1, 1, 3])

LIKELIHOODS = (Gaussian(), SoftplusGaussian(), Binomial(10, 0.5))

for_each_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda likelihood: likelihood.name)

# Its "sample" is x itself, so that the bounds can be foretold.
TRANSPARENT = custom_likelihood(
    "transparent",
    log_density=lambda y, x: -abs(y - x),
    derivative=lambda y, x: 1.0 if y > x else -1.0,
    mean=lambda x: x,
    variance=lambda x: 0.0 * x,
    sample=lambda rng, x: x,
)


def dense_moments(draws: Draws, likelihood: Likelihood) -> tuple[Array, Array]:
    """Return the mean and sd of y at every cell, by the formula on all draws at once."""
    X, sigma = dense_draws(draws)
    means = np.array([likelihood.mean(x) for x in X])
    variances = np.array([likelihood.variance(x, {"sigma": one}) for x, one in zip(X, sigma, strict=True)])
    return means.mean(axis=0), np.sqrt(means.var(axis=0) + variances.mean(axis=0))


@for_each_likelihood
def test_mean_and_sd_at_cells(likelihood: Likelihood) -> None:
    draws = random_run([5, 5])
    mean, sd = dense_moments(draws, likelihood)
    prediction = predict(np.random.default_rng(0), draws, likelihood, ROWS, COLS)
    np.testing.assert_allclose(prediction.mean, mean[ROWS, COLS], rtol=1e-12)
    np.testing.assert_allclose(prediction.sd, sd[ROWS, COLS], rtol=1e-12)


@for_each_likelihood
@pytest.mark.parametrize("block_cells", [1, 2 * N, predictive.BLOCK_CELLS])
def test_mean_and_sd_of_all_cells(monkeypatch: pytest.MonkeyPatch, likelihood: Likelihood, block_cells: int) -> None:
    monkeypatch.setattr(predictive, "BLOCK_CELLS", block_cells)
    draws = random_run([5, 5])
    for ours, theirs in zip(complete(draws, likelihood), dense_moments(draws, likelihood), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_draws_predicts(kind: str) -> None:
    """Factors, and effects with a noise for each column."""
    check_moments(random_run([5, 5], variables=KINDS[kind]), Gaussian())


def test_a_likelihood_without_noise_predicts_from_draws_without_it() -> None:
    check_moments(random_run([5, 5], variables=NOISELESS_VARIABLES), Binomial(10, 0.5))


def check_moments(draws: Draws, likelihood: Likelihood) -> None:
    """Compare means and standard deviations at cells, and of all cells."""
    mean, sd = dense_moments(draws, likelihood)
    prediction = predict(np.random.default_rng(0), draws, likelihood, ROWS, COLS)
    np.testing.assert_allclose(prediction.mean, mean[ROWS, COLS], rtol=1e-12)
    np.testing.assert_allclose(prediction.sd, sd[ROWS, COLS], rtol=1e-12)
    for ours, theirs in zip(complete(draws, likelihood), (mean, sd), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_predictions_are_in_the_units_of_the_data() -> None:
    draws, scales = random_run([20, 20], variables=EFFECT_VARIABLES), np.array([0.001, 1.0, 10.0, 500.0])
    scaled = replace(draws, attributes={**draws.attributes, "column_scales": scales.tolist()})
    plain, ours = (predict(np.random.default_rng(0), run, Gaussian(), ROWS, COLS) for run in (draws, scaled))
    for name in ("mean", "sd", "lower", "upper"):
        np.testing.assert_allclose(getattr(ours, name), getattr(plain, name) * scales[COLS], rtol=1e-12)
    for whole, without in zip(complete(scaled, Gaussian()), complete(draws, Gaussian()), strict=True):
        np.testing.assert_allclose(whole, without * scales, rtol=1e-12)


def test_sd_survives_a_mean_far_from_zero() -> None:
    far = custom_likelihood(
        "far",
        log_density=lambda y, x: -abs(y - x),
        derivative=lambda y, x: 1.0 if y > x else -1.0,
        mean=lambda x: x + 1e8,
        variance=lambda x: 0.0 * x,
        sample=lambda rng, x: x,
    )
    draws = random_run([50])
    expected = dense_moments(draws, TRANSPARENT)[1]
    np.testing.assert_allclose(complete(draws, far)[1], expected, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_quantiles_of_the_samples(kind: str) -> None:
    draws = random_run([20, 20], variables=KINDS[kind])
    X, sigma = dense_draws(draws)
    rng = np.random.default_rng(7)
    at_cells = [{"sigma": np.broadcast_to(one, N)[COLS]} for one in sigma]
    samples = np.array([Gaussian().sample(rng, x[ROWS, COLS], one) for x, one in zip(X, at_cells, strict=True)])
    prediction = predict(np.random.default_rng(7), draws, Gaussian(), ROWS, COLS, interval=0.8)
    np.testing.assert_allclose(prediction.lower, np.quantile(samples, 0.1, axis=0), rtol=1e-5)
    np.testing.assert_allclose(prediction.upper, np.quantile(samples, 0.9, axis=0), rtol=1e-5)
    assert prediction.interval == 0.8


def test_bounds_hold_new_observations_as_often_as_they_say() -> None:
    """Bounds from 4000 samples hold 90 % of y with a standard error of 0.5 %; |z| < 5 in 5 cells: 3e-6."""
    draws, likelihood = random_run([2000, 2000]), Gaussian()
    prediction = predict(np.random.default_rng(1), draws, likelihood, ROWS, COLS)
    X, sigma = dense_draws(draws)
    y = likelihood.sample(np.random.default_rng(2), X[:, ROWS, COLS], {"sigma": sigma[:, None]})
    inside = ((prediction.lower < y) & (y < prediction.upper)).mean(axis=0)
    error = np.sqrt(2 * 0.9 * 0.1 / len(y))  # of the bounds and of the share
    assert (np.abs(inside - 0.9) < 5 * error).all()


@pytest.mark.parametrize("cells_in_block", [1, 2, 3])
def test_blocks_of_cells_do_not_show(monkeypatch: pytest.MonkeyPatch, cells_in_block: int) -> None:
    draws = random_run([10, 10])
    whole = predict(np.random.default_rng(0), draws, TRANSPARENT, ROWS, COLS)
    monkeypatch.setattr(predictive, "SAMPLE_BYTES", cells_in_block * 20 * 4)
    blocks = predict(np.random.default_rng(0), draws, TRANSPARENT, ROWS, COLS)
    for name in ("mean", "sd", "lower", "upper"):
        np.testing.assert_array_equal(getattr(blocks, name), getattr(whole, name))


def test_samples_in_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    draws, sizes = random_run([10, 10]), []
    quantile = np.quantile

    def watched(samples: Array, *arguments: Any, **options: Any) -> Any:
        sizes.append(samples.nbytes)
        return quantile(samples, *arguments, **options)

    monkeypatch.setattr(np, "quantile", watched)
    monkeypatch.setattr(predictive, "SAMPLE_BYTES", 200)
    predict(np.random.default_rng(0), draws, Gaussian(), ROWS, COLS)
    assert len(sizes) == 3
    assert max(sizes) <= 200


def test_the_same_seed_predicts_the_same() -> None:
    draws = random_run([10])
    first, second, other = (predict(np.random.default_rng(seed), draws, Gaussian(), ROWS, COLS) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.lower, second.lower)
    assert (first.lower != other.lower).any()
    np.testing.assert_array_equal(first.mean, other.mean)


def test_a_run_on_disk_predicts_as_one_in_memory(tmp_path: Path) -> None:
    draws = random_run([10, 10])
    draws.save(tmp_path / "run")
    opened = Draws.open(tmp_path / "run")
    ours, theirs = (predict(np.random.default_rng(0), run, Gaussian(), ROWS, COLS) for run in (opened, draws))
    for name in ("mean", "sd", "lower", "upper"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-4)
    np.testing.assert_allclose(complete(opened, Gaussian())[0], complete(draws, Gaussian())[0], rtol=1e-4)


def test_no_cells_predict_nothing() -> None:
    assert predict(np.random.default_rng(0), random_run([3]), Gaussian(), [], []).mean.shape == (0,)


@pytest.mark.parametrize("interval", [0.0, 1.0, 90.0, -0.5, float("nan")])
def test_a_broken_interval_is_refused(interval: float) -> None:
    with pytest.raises(ValueError, match="interval"):
        predict(np.random.default_rng(0), random_run([3]), Gaussian(), ROWS, COLS, interval)


@pytest.mark.parametrize(
    ("rows", "cols", "message"),
    [
        ([0, M], [0, 0], r"rows\[1\] is 6, but rows of this matrix are 0 to 5"),
        ([0], [-1], r"cols\[0\] is -1"),
        ([0, 1], [0], "2 rows and 1 cols"),
        ([0.5], [0], "whole numbers"),
        ([[0]], [[0]], "shape"),
    ],
)
def test_cells_outside_the_matrix_are_refused(rows: ArrayLike, cols: ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        predict(np.random.default_rng(0), random_run([3]), Gaussian(), rows, cols)


def test_bounds_are_quantiles_of_what_is_sampled() -> None:
    draws, scales = random_run([20, 20], variables=EFFECT_VARIABLES), [0.001, 1.0, 10.0, 500.0]
    scaled = replace(draws, attributes={**draws.attributes, "column_scales": scales})
    samples = sample_predictive(np.random.default_rng(0), scaled, Gaussian(), ROWS, COLS)
    prediction = predict(np.random.default_rng(0), scaled, Gaussian(), ROWS, COLS)
    assert samples.shape == (40, 5)
    np.testing.assert_allclose(np.quantile(samples, 0.05, axis=0), prediction.lower, rtol=1e-5)
    np.testing.assert_allclose(np.quantile(samples, 0.95, axis=0), prediction.upper, rtol=1e-5)


@pytest.mark.parametrize(("count", "expected"), [(1, [0]), (3, [0, 6, 13]), (5, [0, 4, 8, 12, 16]), (20, range(20))])
def test_samples_are_of_draws_evenly_spread(count: int, expected: list[int]) -> None:
    draws = random_run([10, 10])
    X, _ = dense_draws(draws)
    samples = sample_predictive(np.random.default_rng(0), draws, TRANSPARENT, ROWS, COLS, count)
    np.testing.assert_allclose(samples, X[list(expected)][:, ROWS, COLS], rtol=1e-12)


@pytest.mark.parametrize("count", [0, 21])
def test_more_samples_than_draws_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"{count} draws were requested, but the posterior has 20"):
        sample_predictive(np.random.default_rng(0), random_run([10, 10]), Gaussian(), ROWS, COLS, count)


def test_a_prediction_as_a_frame() -> None:
    prediction = predict(np.random.default_rng(0), random_run([5]), Gaussian(), ROWS, COLS)
    plain = prediction.to_frame()
    assert list(plain.columns) == ["mean", "sd", "lower", "upper"]
    np.testing.assert_array_equal(plain["upper"], prediction.upper)
    names: list[Any] = ["a", "f", "c", "c", 7]
    labelled = prediction.to_frame(names, COLS)
    assert list(labelled.columns) == ["row", "column", "mean", "sd", "lower", "upper"]
    assert labelled["row"].tolist() == names
    assert labelled["column"].tolist() == COLS.tolist()
    np.testing.assert_array_equal(labelled["mean"], prediction.mean)


def test_a_frame_with_too_few_labels_is_refused() -> None:
    prediction = predict(np.random.default_rng(0), random_run([5]), Gaussian(), ROWS, COLS)
    with pytest.raises(ValueError, match="cols must name the 5 predicted cells, not 2"):
        prediction.to_frame(cols=[0, 1])
