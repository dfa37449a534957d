"""Row and column effects by least squares, and the variances that they leave."""

import numpy as np
import pytest

from manifill.base.arrays import Matrix, Vector
from manifill.problem import Observations
from manifill.problem.additive_fit import fit_additive, variance_of
from tests.problem.cells import ragged_observations

RAGGED = ragged_observations(np.random.default_rng(3))


def design(observations: Observations) -> Matrix:
    """Return an indicator for each row and each column, (cells, m + n)."""
    rows, cols, _ = observations.triples()
    (m, n), cells = observations.shape, np.arange(observations.size)
    indicators = np.zeros((observations.size, m + n))
    indicators[cells, rows] = indicators[cells, m + cols] = 1.0
    return indicators


def grid(values: Matrix) -> Observations:
    """Return a matrix without holes."""
    rows, cols = np.indices(values.shape).reshape(2, -1)
    return Observations.from_triples(rows, cols, values.ravel())


@pytest.mark.parametrize("level", [0.0, 1e9])
def test_fit_is_that_of_least_squares(level: float) -> None:
    x = RAGGED.by_row.values + level
    fit = fit_additive(RAGGED, x)
    indicators = design(RAGGED)
    expected = indicators @ np.linalg.lstsq(indicators, RAGGED.by_row.values, rcond=None)[0]
    left = x - fit.row - fit.column
    np.testing.assert_allclose(left - left.mean(), RAGGED.by_row.values - expected, atol=1e-10 + 1e-15 * level)


def test_what_both_leave_has_its_degrees_of_freedom() -> None:
    """Of many tables of normal numbers it is one on the average."""
    rng, found = np.random.default_rng(4), 0.0
    rows, cols, _ = RAGGED.triples()
    freedom = RAGGED.size - len(np.unique(rows)) - len(np.unique(cols)) + 1
    for _ in range(400):
        found += fit_additive(RAGGED, rng.standard_normal(RAGGED.size)).residual_of_both / 400
    # A variance with f degrees of freedom has the variance 2/f.  False alarms: 1 in 10⁵.
    assert found == pytest.approx(1.0, abs=4.5 * np.sqrt(2 / freedom / 400))


def test_effects_are_told_apart() -> None:
    rng = np.random.default_rng(5)
    row, column = 30.0 * rng.standard_normal((60, 1)), 300.0 * rng.standard_normal((1, 50))
    noise = rng.standard_normal((60, 50))
    data = grid(row + column + noise)
    fit = fit_additive(data, data.by_row.values)
    assert fit.residual_of_both == pytest.approx(1.0, rel=0.1)
    assert fit.residual_of_columns == pytest.approx(np.var(row) + 1.0, rel=0.1)
    assert fit.residual_of_rows == pytest.approx(np.var(column) + 1.0, rel=0.1)
    assert (fit.free_rows, fit.free_columns) == (59, 49)


def test_nothing_left_is_what_one_kind_of_lines_leaves() -> None:
    data = grid(np.arange(5.0)[:, None] + 10.0 * np.arange(4.0))
    fit = fit_additive(data, data.by_row.values)
    assert fit.residual_of_both == min(fit.residual_of_columns, fit.residual_of_rows)
    assert fit.residual_of_columns == pytest.approx(2.0 * 20 / 17)


@pytest.mark.parametrize("values", [np.arange(6.0), np.full(6, 0.1)], ids=["a cell a line", "constant"])
def test_lines_without_cells_to_spare_take_nothing_off(values: Vector) -> None:
    data = Observations.from_triples(np.arange(6), np.arange(6), values)
    fit = fit_additive(data, values)
    assert not fit.row.any()
    assert not fit.column.any()
    assert fit[2:5] == (variance_of(values),) * 3


def test_rounding_is_no_variance() -> None:
    assert variance_of(np.full(20, 0.1)) == 0.0
    assert variance_of(np.array([1.0, 1.0 + 1e-9])) > 0.0
    assert variance_of(np.array([0.0, 3.0, 6.0]), spent=1) == pytest.approx(9.0)
