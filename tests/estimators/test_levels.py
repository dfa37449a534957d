"""Tables far from zero, with columns on different levels, or with columns that do not vary."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manifill import MatrixCompletion, load, map_estimate
from manifill.base.arrays import Matrix

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

QUICK: dict[str, Any] = {
    "sampler": "joint",
    "rank": 1,
    "chains": 1,
    "warmup": 150,
    "draws": 150,
    "seed": 0,
    "jobs": 1,
    "progress": False,
}


def noise(rows: int = 30, columns: int = 8, missing: float = 0.3, seed: int = 0) -> Matrix:
    """Return a table of normal numbers with holes, its first row empty."""
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((rows, columns)) < missing, np.nan, rng.normal(size=(rows, columns)))
    table[0] = np.nan
    return table


def test_an_empty_row_falls_back_to_the_columns_whatever_their_levels() -> None:
    """An empty row is as uncertain as any: its sd is about one, and not that of the levels."""
    levels = 1000.0 * np.arange(8)
    model = MatrixCompletion(**QUICK, column_scales=None).fit(noise() + levels)
    mean, sd = model.complete()
    assert sd[0].max() < 1.6
    np.testing.assert_allclose(mean[0], levels, atol=1.0)
    estimate = map_estimate(noise() + levels, column_scales=None)
    np.testing.assert_allclose(estimate.complete()[0], levels, atol=1.0)


@pytest.mark.parametrize("value", [0.1, -3.3, 7.0])
def test_columns_that_do_not_vary_spoil_nothing(value: float) -> None:
    table = np.hstack((noise(columns=12), np.full((30, 2), value)))
    table[1, 12:] = np.nan
    model = MatrixCompletion(**QUICK).fit(table)
    assert model.posterior_.column_scales == 1.0
    mean, _ = model.complete()
    assert np.abs(mean[:, :12]).max() < 4.0
    assert np.abs(mean[2:, 12:] - value).max() < 2.0
    assert np.abs(map_estimate(table).complete()).max() < 8.0


def test_intervals_are_as_fine_at_any_level(tmp_path: Path) -> None:
    """Far from zero single precision would round bounds, of draws in memory and on disk."""
    level, cells = 2.0**30, ([0, 1, 2], [0, 1, 2])
    near, far = (MatrixCompletion(**QUICK).fit(noise() + shift) for shift in (0.0, level))
    on_disk = MatrixCompletion(**QUICK, path=tmp_path / "run").fit(noise() + level)
    wide = near.predict(*cells)
    for model in (far, on_disk, load(tmp_path / "run")):
        p = model.predict(*cells)
        np.testing.assert_allclose(p.upper - p.lower, wide.upper - wide.lower, rtol=0.3)
        np.testing.assert_allclose(p.mean - level, wide.mean, atol=0.3)


@pytest.mark.parametrize("size", [1e200, 1e-200])
@pytest.mark.parametrize("complete", [map_estimate, MatrixCompletion(**QUICK).fit], ids=["mode", "draws"])
def test_values_that_cannot_be_squared_are_refused(size: float, complete: Callable[[Matrix], object]) -> None:
    with pytest.raises(ValueError, match="too small or too large to be squared; scale the data"):
        complete(size * noise())


def test_negative_data_are_not_for_softplus() -> None:
    with pytest.raises(ValueError, match="all values are negative; take 'gaussian'"):
        MatrixCompletion(**QUICK, likelihood="softplus").fit(-np.abs(noise()) - 1.0)


@pytest.mark.parametrize("noise_by", ["row", "column", "both"])
def test_rows_and_columns_without_cells_have_the_noise_of_a_new_one(noise_by: str) -> None:
    table = noise()
    table[:, 3], table[2] = np.nan, np.nan
    _, sd = MatrixCompletion(**QUICK, noise=noise_by).fit(table).complete()
    assert np.isfinite(sd).all()
