"""Columns in different units: found out, said in the log, and undone in every prediction."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manifill import Draws, MatrixCompletion
from manifill.base.arrays import Matrix
from manifill.problem import from_array
from manifill.problem.column_spreads import column_spreads

from .tables import low_rank_table

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

QUICK: dict[str, Any] = {
    "column_transform": None,
    "sampler": "joint",
    "rank": 2,
    "chains": 1,
    "warmup": 30,
    "draws": 20,
    "seed": 0,
    "jobs": 1,
    "progress": False,
}
UNITS = np.array([1.0, 1000.0, 0.01, 1.0, 100.0, 1.0, 50.0, 0.1, 1.0])


def similar_columns(seed: int = 0) -> Matrix:
    """Return a table with holes whose columns have about the same spread."""
    rng = np.random.default_rng(seed)
    full = 3.0 + rng.normal(size=(30, 9)) + 0.5 * rng.normal(size=(30, 1))
    return np.where(rng.random(full.shape) < 0.7, full, np.nan)


@pytest.mark.parametrize("likelihood", ["gaussian", "softplus"])
def test_standardised_predictions_follow_the_units_of_the_data(likelihood: str) -> None:
    """The same seed and 1024 times the values, so that no rounding differs: the same draws, and larger predictions."""
    table = np.abs(low_rank_table()[1])
    plain, other = (
        MatrixCompletion(**QUICK, likelihood=likelihood, column_scales="standardize").fit(data)
        for data in (table, 1024.0 * table)
    )
    np.testing.assert_array_equal(other.posterior_.s, plain.posterior_.s)
    for large, small in zip(other.complete(), plain.complete(), strict=True):
        np.testing.assert_allclose(large, 1024.0 * small, rtol=1e-12)
    cells = [0, 3], [1, 4]
    ours, theirs = other.predict(*cells), plain.predict(*cells)
    np.testing.assert_allclose((ours.lower, ours.upper), np.multiply(1024.0, (theirs.lower, theirs.upper)), rtol=1e-12)


def test_auto_scales_columns_in_different_units_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    table = similar_columns() * UNITS
    with caplog.at_level(logging.INFO, "manifill"):
        model = MatrixCompletion(**QUICK).fit(table)
    assert "columns are divided by their spreads" in caplog.text
    spreads = column_spreads(from_array(table))
    np.testing.assert_allclose(model.posterior_.column_scales, spreads)
    distance = (model.complete()[0].mean(axis=0) - np.nanmean(table, axis=0)) / spreads
    assert np.abs(distance).max() < 1.0


@pytest.mark.parametrize("shown", [True, False])
def test_scaling_is_said_where_progress_is_shown(shown: bool, capfd: pytest.CaptureFixture[str]) -> None:
    settings = QUICK | {"sampler": "factors", "progress": shown}
    MatrixCompletion(**settings).fit(similar_columns() * UNITS)
    said = capfd.readouterr().err.splitlines()
    expected = ["manifill: columns are divided by their spreads, from 0.0154 to 882"]
    assert [line for line in said if "spreads" in line] == (expected if shown else [])


def test_auto_leaves_the_longer_side_alone_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """Thirty columns of nine rows: one quantity at thirty times, of which some are large."""
    rng = np.random.default_rng(4)
    table = rng.standard_normal((9, 30)) * np.geomspace(1.0, 100.0, 30)
    with caplog.at_level(logging.INFO, "manifill"):
        model = MatrixCompletion(**QUICK).fit(table)
    assert "not scaled, since there are more columns than rows; column_scales='standardize' scales them" in caplog.text
    assert model.posterior_.column_scales == 1.0
    scaled = MatrixCompletion(**QUICK, column_scales="standardize").fit(table)
    np.testing.assert_allclose(scaled.posterior_.column_scales, column_spreads(from_array(table)))


def test_auto_leaves_similar_columns_alone(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "manifill"):
        model = MatrixCompletion(**QUICK).fit(similar_columns())
    assert "divided" not in caplog.text
    assert model.posterior_.column_scales == 1.0
    assert "column_scales" not in model.posterior_.attributes


@pytest.mark.parametrize(
    "changes", [{"column_scales": None}, {"sigma": 1.0}, {"noise_prior": "paper"}, {"lambda_": 1.0}], ids=str
)
def test_columns_stay_as_they_are_where_that_is_asked_or_priors_are_in_their_units(changes: dict[str, Any]) -> None:
    model = MatrixCompletion(**QUICK, **changes).fit(similar_columns() * UNITS)
    assert model.posterior_.column_scales == 1.0


def test_scales_are_kept_with_the_draws(tmp_path: Path) -> None:
    model = MatrixCompletion(**QUICK, column_scales="standardize", path=tmp_path / "run").fit(similar_columns())
    kept = Draws.open(tmp_path / "run" / "draws.zarr").column_scales
    np.testing.assert_array_equal(kept, column_spreads(from_array(similar_columns())))
    assert model.observations_.by_row.values.mean() == pytest.approx(np.nanmean(similar_columns())), "the data as given"
