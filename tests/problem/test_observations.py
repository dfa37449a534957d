"""Observed cells: both compressed forms, labels, splits and memory."""

import tracemalloc
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manifill.base.arrays import Matrix
from manifill.problem import Observations
from tests.problem.cells import dense, labels_of, ragged_observations


@st.composite
def sparse_matrices(draw: st.DrawFn) -> Matrix:
    """Matrices of up to 6×6 with at least one observed cell, NaN elsewhere."""
    m, n = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    mask = np.array(draw(st.lists(st.booleans(), min_size=m * n, max_size=m * n).filter(any))).reshape(m, n)
    return np.where(mask, np.arange(m * n).reshape(m, n) - 3.5, np.nan)


def by_column_dense(observations: Observations) -> Matrix:
    matrix = np.full(observations.shape, np.nan)
    cells = observations.by_column
    matrix[cells.indices, cells.major_indices] = cells.values
    return matrix


@settings(max_examples=100, deadline=None, derandomize=True)
@given(sparse_matrices(), st.randoms(use_true_random=False))
def test_both_forms_hold_the_matrix_whatever_the_order(matrix: Matrix, random: Random) -> None:
    rows, cols = np.nonzero(~np.isnan(matrix))
    order = list(range(len(rows)))
    random.shuffle(order)
    observations = Observations.from_triples(rows[order], cols[order], matrix[rows, cols][order], matrix.shape)
    np.testing.assert_array_equal(dense(observations), matrix)
    np.testing.assert_array_equal(by_column_dense(observations), matrix)
    assert observations.size == len(rows)
    for cells, size in zip((observations.by_row, observations.by_column), matrix.shape, strict=True):
        assert cells.starts.shape == (size + 1,)
        assert (cells.starts[0], cells.starts[-1]) == (0, len(rows))


def test_triples_are_sorted_by_row_then_column() -> None:
    observations = Observations.from_triples([1, 0, 1, 0], [0, 2, 2, 1], [1.0, 2.0, 3.0, 4.0])
    rows, cols, values = observations.triples()
    assert (rows.tolist(), cols.tolist(), values.tolist()) == ([0, 0, 1, 1], [1, 2, 0, 2], [4.0, 2.0, 1.0, 3.0])
    assert observations.shape == (2, 3)


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float32, np.float64])
def test_whole_numbers_of_any_type_are_indices(kind: type) -> None:
    observations = Observations.from_triples(np.array([1, 0], kind), np.array([0, 2], kind), [5.0, 6.0])
    assert [part.tolist() for part in observations.triples()] == [[0, 1], [2, 0], [6.0, 5.0]]


def test_integers_and_booleans_are_values() -> None:
    assert Observations.from_triples([0, 1], [0, 1], [3, 4]).by_row.values.dtype == np.float64
    assert Observations.from_triples([0, 1], [0, 1], [True, False]).by_row.values.tolist() == [1.0, 0.0]


def test_arguments_are_copied() -> None:
    values = np.array([1.0, 2.0])
    observations = Observations.from_triples(np.array([0, 1]), np.array([0, 1]), values)
    values[0] = 99.0
    assert observations.by_row.values.tolist() == observations.by_column.values.tolist() == [1.0, 2.0]


def test_duplicates_are_averaged_on_request() -> None:
    observations = Observations.from_triples([1, 0, 1, 1], [0, 0, 0, 1], [1.0, 5.0, 4.0, 7.0], duplicates="average")
    np.testing.assert_array_equal(dense(observations), [[5.0, np.nan], [2.5, 7.0]])
    np.testing.assert_array_equal(by_column_dense(observations), dense(observations))


def test_subset_by_position_and_by_mask() -> None:
    observations = ragged_observations(np.random.default_rng(1))
    positions = np.array([0, 5, 7])
    mask = np.zeros(observations.size, dtype=bool)
    mask[positions] = True
    expected = [part[positions].tolist() for part in observations.triples()]
    for chosen in (positions, mask):
        subset = observations.subset(chosen)
        assert [part.tolist() for part in subset.triples()] == expected
        assert subset.shape == observations.shape


def labelled() -> Observations:
    return Observations.from_triples(
        [0, 1, 2], [0, 1, 0], [1.0, 2.0, 3.0], row_labels=np.array(["a", "b", "c"]), column_labels=np.array([10, 20])
    )


def test_labels_are_found() -> None:
    observations = labelled()
    assert observations.row_indices(["c", "a", "c"]).tolist() == [2, 0, 2]
    assert observations.row_indices(np.array(["b"])).tolist() == [1]
    assert observations.column_indices([20, 10]).tolist() == [1, 0]
    assert observations.column_indices(np.array([20], dtype=np.int16)).tolist() == [1]


def test_without_labels_the_numbers_are_checked() -> None:
    observations = ragged_observations(np.random.default_rng(2))
    assert observations.row_indices([6, 0]).tolist() == [6, 0]
    assert observations.column_indices([]).tolist() == []


def test_labels_survive_subset_and_split() -> None:
    for part in (labelled().subset(np.array([0])), *labelled().split(np.random.default_rng(3), 0.4)):
        rows, columns = labels_of(part)
        assert rows.tolist() == ["a", "b", "c"]
        assert columns.tolist() == [10, 20]


def cells_of(observations: Observations) -> set[tuple[int, int, float]]:
    return set(zip(*(part.tolist() for part in observations.triples()), strict=True))


def test_split_is_disjoint_complete_of_the_stated_size_and_repeatable() -> None:
    observations = ragged_observations(np.random.default_rng(4))
    train, held_out = observations.split(np.random.default_rng(5), 0.25)
    assert (train.size, held_out.size) == (observations.size - 6, 6) == (16, 6)
    assert not cells_of(train) & cells_of(held_out)
    assert cells_of(train) | cells_of(held_out) == cells_of(observations)
    assert cells_of(observations.split(np.random.default_rng(5), 0.25)[1]) == cells_of(held_out)
    assert cells_of(observations.split(np.random.default_rng(6), 0.25)[1]) != cells_of(held_out)


def test_split_holds_out_every_cell_equally_often() -> None:
    """A quarter of 500 splits for each of 22 cells, |z| < 5: false-alarm rate 1e-5."""
    observations = ragged_observations(np.random.default_rng(7))
    rng = np.random.default_rng(8)
    cells = sorted(cells_of(observations))
    counts = dict.fromkeys(cells, 0)
    for _ in range(500):
        for cell in cells_of(observations.split(rng, 0.25)[1]):
            counts[cell] += 1
    share = 6 / 22
    z = (np.array(list(counts.values())) - 500 * share) / np.sqrt(500 * share * (1 - share))
    assert np.abs(z).max() < 5.0


def test_split_cells_takes_shares_of_the_whole_matrix() -> None:
    observations = ragged_observations(np.random.default_rng(9))  # 22 of 84 cells
    train, validate = observations.split_cells(np.random.default_rng(10), train=0.1, validate=0.1)
    assert (train.size, validate.size) == (8, 8)
    assert not cells_of(train) & cells_of(validate)
    assert cells_of(train) | cells_of(validate) < cells_of(observations)


def test_memory_per_observation() -> None:
    """24 bytes are held a cell, and no larger array is kept alive behind them; the bound leaves room for the starts."""
    rng = np.random.default_rng(11)
    cells = 200_000
    key = rng.choice(2000 * 1000, cells, replace=False)
    rows, cols, values = key // 1000, key % 1000, rng.standard_normal(cells)
    tracemalloc.start()
    observations = Observations.from_triples(rows, cols, values)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert observations.size == cells
    assert held / cells < 40
