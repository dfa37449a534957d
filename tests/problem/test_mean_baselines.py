"""Predictions by means, compared with closed forms."""

import numpy as np
import pytest

from manifill.base.arrays import Matrix
from manifill.problem import from_array
from manifill.problem.additive_fit import fit_additive
from manifill.problem.mean_baselines import column_means, mean_baselines

M, N = 40, 25


def table(level: float = 0.0) -> tuple[Matrix, Matrix]:
    """Return a table of row and column effects and noise, and a tenth of it; row 5 and column 3 have no cells."""
    rng = np.random.default_rng(0)
    full = level + rng.normal(size=(M, 1)) + 2.0 * rng.normal(size=N) + rng.normal(size=(M, N))
    seen = rng.random((M, N)) < 0.2
    seen[5], seen[:, 3] = False, False
    return full, np.where(seen, full, np.nan)


@pytest.mark.parametrize("level", [0.0, 1e4])
def test_shrunk_means_are_those_of_ridge_regression(level: float) -> None:
    data = from_array(table(level)[1])
    rows, cols, values = data.triples()
    fit, cells = fit_additive(data, values), np.arange(values.size)
    noise = fit.residual_of_both
    design = np.zeros((values.size, 1 + M + N))
    design[:, 0] = design[cells, 1 + rows] = design[cells, 1 + M + cols] = 1.0
    of_rows, of_columns = noise / (fit.residual_of_columns - noise), noise / (fit.residual_of_rows - noise)
    penalty = np.diag([0.0, *[of_rows] * M, *[of_columns] * N])
    mean, *effects = np.linalg.solve(design.T @ design + penalty, design.T @ (values - values.mean()))
    expected = values.mean() + mean + np.array(effects)[:M, None] + np.array(effects)[M:]
    everywhere = np.indices((M, N)).reshape(2, -1)
    found = mean_baselines(data, everywhere[0], everywhere[1], np.ones(()))["row and column means"]
    np.testing.assert_allclose(found, expected.ravel(), atol=1e-3)


def test_column_means_are_those_of_observed_cells() -> None:
    holes = table()[1]
    found = column_means(from_array(holes))
    others = np.arange(N) != 3
    np.testing.assert_allclose(found[others], np.nanmean(holes[:, others], axis=0))
    assert found[3] == pytest.approx(np.nanmean(holes))


def test_row_and_column_means_beat_column_means_if_rows_differ() -> None:
    full, holes = table()
    rows, cols = np.nonzero(np.isnan(holes))
    found = mean_baselines(from_array(holes), rows, cols, np.ones(()))
    rmse = {name: np.sqrt(np.mean((predicted - full[rows, cols]) ** 2)) for name, predicted in found.items()}
    assert 1.0 < rmse["row and column means"] < rmse["column means"]


def test_units_of_columns_do_not_matter_if_they_are_divided_out() -> None:
    holes, units = table()[1], 10.0 ** (np.arange(N) % 5 - 2)
    rows, cols = np.nonzero(np.isnan(holes))
    plain = mean_baselines(from_array(holes), rows, cols, np.ones(()))["row and column means"]
    found = mean_baselines(from_array(holes * units), rows, cols, units)["row and column means"]
    # The fit is iterative: its error is relative to the spread of the values, about 1, also in cells near zero.
    np.testing.assert_allclose(found / units[cols], plain, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("holes", [np.full((3, 3), 2.0), np.where(np.eye(4) > 0.0, 5.0, np.nan), [[7.0]]], ids=str)
def test_constant_data_predict_the_constant(holes: Matrix) -> None:
    data = from_array(holes)
    found = mean_baselines(data, np.array([0]), np.array([0]), np.ones(()))
    for predicted in found.values():
        np.testing.assert_allclose(predicted, data.triples()[2][0])
