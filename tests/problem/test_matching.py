"""Other data, found on the rows and columns of a fit."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from manifill.problem import Observations, from_array, from_frame, matched_cells


def lists(found: tuple[ArrayLike, ArrayLike, ArrayLike]) -> list[list[float]]:
    return [np.asarray(part).tolist() for part in found]


@pytest.fixture
def labelled() -> Observations:
    return from_frame(pd.DataFrame({"who": ["ann", "bob", "cy"], "what": [30, 10, 20], "y": [1.0, 2.0, 3.0]}))


@pytest.fixture
def numbered() -> Observations:
    return from_array(np.ones((3, 4)))


def test_triples_by_label(labelled: Observations) -> None:
    assert lists(matched_cells(labelled, ["cy", "ann"], [10, 30], [7.0, 8.0])) == [[2, 0], [0, 2], [7.0, 8.0]]


def test_triples_by_number(numbered: Observations) -> None:
    assert lists(matched_cells(numbered, [2, 0, 2], [1, 3, 1], [7.0, 8.0, 9.0])) == [[2, 0, 2], [1, 3, 1], [7, 8, 9]]


def test_a_frame_by_label_though_it_numbers_its_own_otherwise(labelled: Observations) -> None:
    frame = pd.DataFrame({"row": ["cy", "bob"], "col": [30, 20], "value": [7.0, 8.0]})
    assert lists(matched_cells(labelled, frame)) == [[1, 2], [1, 2], [8.0, 7.0]]


def test_a_frame_of_numbers(numbered: Observations) -> None:
    frame = pd.DataFrame({"row": [2, 1], "col": [3, 1], "value": [7.0, 8.0]})
    assert lists(matched_cells(numbered, frame)) == [[1, 2], [1, 3], [8.0, 7.0]]


def test_a_part_of_the_data_of_the_fit(labelled: Observations) -> None:
    assert lists(matched_cells(labelled, labelled.subset(np.array([1])))) == [[1], [0], [2.0]]


def test_arrays_and_sparse_matrices_by_number(numbered: Observations) -> None:
    array = np.full((3, 4), np.nan)
    array[2, 1] = 7.0
    for data in (array, csr_array(([7.0], ([2], [1])), shape=(3, 4))):
        assert lists(matched_cells(numbered, data)) == [[2], [1], [7.0]]


def test_data_without_labels_do_not_fit_a_fit_with_labels(labelled: Observations) -> None:
    with pytest.raises(ValueError, match="the rows of the fit have labels, but those of these data have none"):
        matched_cells(labelled, np.ones((3, 3)))


def test_what_the_fit_does_not_have_is_refused(labelled: Observations, numbered: Observations) -> None:
    with pytest.raises(ValueError, match="rows holds 'dan'"):
        matched_cells(labelled, ["dan"], [10], [1.0])
    with pytest.raises(ValueError, match="cols holds the index 4"):
        matched_cells(numbered, np.ones((3, 5)))


def test_two_of_three_are_refused(numbered: Observations) -> None:
    with pytest.raises(ValueError, match="one of cols and values is missing"):
        matched_cells(numbered, [0], [0])


def test_a_cell_given_twice(numbered: Observations) -> None:
    frame = pd.DataFrame({"row": [2, 2], "col": [3, 3], "value": [7.0, 8.0]})
    with pytest.raises(ValueError, match="more than once"):
        matched_cells(numbered, frame)
    assert lists(matched_cells(numbered, frame, duplicates="average")) == [[2], [3], [7.5]]
