"""Intervals as series of draws, compared with samples of y."""

import numpy as np
import pytest

from manifill.likelihoods import Gaussian, Likelihood, SoftplusGaussian
from manifill.posterior import Draws, Variable, diagnosed_series, sample_predictive
from manifill.posterior.interval_series import TAIL, CellMixture, below_bounds
from manifill.posterior.use_verdict import Colour, judge
from tests.posterior.runs import FACTOR_VARIABLES, M, N, random_run

ROW_AND_COLUMN = (
    *FACTOR_VARIABLES,
    Variable("row_noise", ("row",), (M,)),
    Variable("column_noise", ("column",), (N,)),
)
ROWS, COLS = np.array([0, 3, 5]), np.array([1, 0, 3])


def run(variables: tuple[Variable, ...] = ROW_AND_COLUMN, draws: int = 4000) -> Draws:
    return random_run([draws, draws], variables=variables)


@pytest.mark.parametrize("likelihood", [Gaussian(), SoftplusGaussian()])
@pytest.mark.parametrize("tails", ["normal", "student"])
def test_quantiles_are_those_of_samples(likelihood: Likelihood, tails: str) -> None:
    """Six shares in each of four cases: one beyond 4.5 standard errors has a chance of 2e-4."""
    draws = run((*ROW_AND_COLUMN, Variable("nu", (), ())) if tails == "student" else ROW_AND_COLUMN)
    mixture = CellMixture.of(draws, likelihood, ROWS, COLS)
    samples = sample_predictive(np.random.default_rng(0), draws, likelihood, ROWS, COLS)
    for probability in (TAIL, 0.8):
        bound = mixture.quantile(probability)
        np.testing.assert_allclose(mixture.below(bound).mean(axis=0), probability, atol=1e-6)
        error = np.sqrt(probability * (1.0 - probability) / len(samples))
        assert np.all(np.abs(np.mean(samples < bound, axis=0) - probability) < 4.5 * error)


def test_noise_that_is_exchanged_with_the_matrix_does_not_show() -> None:
    """Half of the variance of y moves from X to σ and back in long stretches, of which intervals know nothing."""
    rng = np.random.default_rng(1)
    draws = run((*FACTOR_VARIABLES, Variable("column_noise", ("column",), (N,))), draws=2000)
    is_noise = np.repeat(rng.random((2, 4)) < 0.5, 500, axis=1)
    variance = np.where(is_noise, 0.05, 0.45)  # of X; that of y is ½
    draws.posterior["A"][:] = 0.0
    draws.posterior["A"][..., 0] = np.sqrt(variance)[..., None] * rng.standard_normal((2, 2000, M))
    draws.posterior["B"][:] = 1.0
    draws.posterior["sigma"][:] = 1.0
    draws.posterior["column_noise"][:] = np.sqrt(0.5 - variance)[..., None]
    below = below_bounds(draws, Gaussian(), ROWS, COLS)
    halves = below.reshape(2, 2, 4, 500, ROWS.size).mean(axis=3)
    assert np.ptp(halves, axis=(1, 2)).max() < 0.05
    sigma = draws.posterior["column_noise"][..., 0].reshape(2, 4, 500).mean(axis=2)
    assert np.ptp(sigma) > 0.3
    series = {f"bound {k}": below[0, ..., k] for k in range(ROWS.size)}
    assert judge("predictions", series, averages=list(series)).colour == Colour.GREEN
    assert judge("predictions", series).colour == Colour.RED  # the distributions of the probabilities differ


def test_intervals_stand_for_the_noise_of_rows_and_columns() -> None:
    predictions, whole, averages = diagnosed_series(np.random.default_rng(0), run(draws=50), Gaussian())
    assert averages == {name for name in predictions if " bound at " in name or name.startswith("X")}
    of_cells = [name for name in predictions if name.startswith("X")]
    assert {f"{bound} bound at {name}" for name in of_cells for bound in ("lower", "upper")} <= averages
    assert "sigma" not in predictions
    assert "sigma" in whole


def test_without_factors_the_parameters_of_the_noise_are_looked_at_themselves() -> None:
    draws = run((*FACTOR_VARIABLES, Variable("nu", (), ())), draws=50)
    predictions, whole, averages = diagnosed_series(np.random.default_rng(0), draws, Gaussian())
    assert not averages
    assert {"sigma", "nu"} <= set(predictions)
    assert not {"sigma", "nu"} & set(whole)
