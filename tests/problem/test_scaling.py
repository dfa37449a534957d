"""Columns on one scale: spreads that lean on each other, and when to use them."""

import numpy as np
import pytest

from manifill.base.arrays import Generator, Matrix
from manifill.problem import Observations, from_array
from manifill.problem.column_spreads import column_spreads, differ_widely, divided_by, without_outliers
from tests.problem.cells import dense, labels_of


def table(rng: Generator, spreads: list[float], rows: int = 40) -> Matrix:
    """Return columns with these spreads about different means, a third of the cells missing."""
    full = 5.0 * np.arange(len(spreads)) + rng.standard_normal((rows, len(spreads))) * spreads
    return np.where(rng.random(full.shape) < 2 / 3, full, np.nan)


def test_spreads_are_standard_deviations_with_one_cell_more_of_the_geometric_mean() -> None:
    holes = table(np.random.default_rng(1), [1.0, 10.0, 0.1])
    counts, logs = np.sum(~np.isnan(holes), axis=0) - 1, np.log(np.nanvar(holes, axis=0, ddof=1))
    expected = np.exp(0.5 * (counts * logs + np.average(logs, weights=counts)) / (counts + 1.0))
    np.testing.assert_allclose(column_spreads(from_array(holes)), expected, rtol=1e-12)


def test_columns_with_few_cells_take_the_average_spread() -> None:
    holes = table(np.random.default_rng(2), [1.0, 1.0, 1.0, 1.0])
    holes[:, 1] = np.nan
    holes[1:, 2] = np.nan
    holes[0, 2] = 1e6
    rows, cols = np.nonzero(~np.isnan(holes))
    spreads = column_spreads(Observations.from_triples(rows, cols, holes[rows, cols], (40, 5)))
    np.testing.assert_allclose(spreads[[1, 2, 4]], spreads[1], rtol=1e-12)
    assert spreads[0] < spreads[1] < spreads[3] or spreads[3] < spreads[1] < spreads[0]


def test_a_column_in_another_unit_leaves_the_others_alone() -> None:
    holes, units = table(np.random.default_rng(5), [1.0] * 8), np.array([1000.0] + [1.0] * 7)
    before, after = (column_spreads(from_array(data)) for data in (holes, holes * units))
    np.testing.assert_allclose(after / before, units, rtol=0.3)


@pytest.mark.parametrize("value", [0.0, 7.0, 0.1, -3.3])
def test_constant_columns_leave_the_others_alone(value: float) -> None:
    """Rounding gives a column of 0.1 a variance, which is not to be divided by."""
    holes = table(np.random.default_rng(6), [1.0] * 8)
    constant = np.where(np.isnan(holes[:, :2]), np.nan, value)
    spreads = column_spreads(from_array(np.hstack((holes, constant))))
    np.testing.assert_allclose(spreads[:8], column_spreads(from_array(holes)), rtol=1e-12)
    assert np.log(spreads[8:]) == pytest.approx(np.average(np.log(spreads[:8])), abs=0.1)


@pytest.mark.parametrize("value", [0.0, 7.0, 0.1])
def test_constant_data_keep_their_units(value: float) -> None:
    assert column_spreads(from_array(np.full((4, 3), value))).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("spreads", "rows", "expected"),
    [
        ([1.0] * 20, 40, False),
        ([1.0] * 10 + [1.5] * 10, 40, False),
        ([1.0] * 10 + [100.0] * 10, 40, True),
        ([1.0] * 10 + [100.0] * 10, 4, False),
        ([1.0] * 59 + [1000.0], 40, False),
    ],
    ids=["equal", "similar", "different", "different, but few cells", "one outlier"],
)
def test_when_spreads_differ_widely(spreads: list[float], rows: int, expected: bool) -> None:
    observations = from_array(table(np.random.default_rng(3), spreads, rows))
    assert differ_widely(observations, column_spreads(observations)) == expected


def test_dividing_keeps_cells_and_labels() -> None:
    holes, scales = table(np.random.default_rng(4), [1.0, 2.0, 3.0]), np.array([2.0, 1.0, 0.5])
    rows, cols = np.nonzero(~np.isnan(holes))
    labels = np.array([f"r{i}" for i in range(40)]), np.array(["x", "y", "z"])
    observations = Observations.from_triples(
        rows, cols, holes[rows, cols], holes.shape, row_labels=labels[0], column_labels=labels[1]
    )
    divided = divided_by(observations, scales)
    np.testing.assert_allclose(dense(divided), holes / scales, rtol=1e-15)
    assert [kept.tolist() for kept in labels_of(divided)] == [given.tolist() for given in labels]


def test_outliers_are_moved_to_where_they_begin() -> None:
    holes = table(np.random.default_rng(3), [1.0, 5.0, 0.2], rows=100)
    observations = from_array(holes)
    np.testing.assert_array_equal(dense(without_outliers(observations)), holes)
    row = int(np.flatnonzero(~np.isnan(holes[:, 1]))[0])
    wild = holes.copy()
    wild[row, 1] = 1e9
    moved = dense(without_outliers(from_array(wild)))
    assert 50.0 < moved[row, 1] < 500.0
    moved[row, 1] = holes[row, 1]
    np.testing.assert_array_equal(moved, holes)
