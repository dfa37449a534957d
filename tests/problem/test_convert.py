"""Every form of data becomes the same observations."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from manifill.problem import Observations, as_observations, from_frame, from_sparse
from tests.problem.cells import dense, labels_of

MATRIX = np.array([[1.0, np.nan, 0.0], [np.nan, 2.5, np.nan]])
ROWS, COLS = np.nonzero(~np.isnan(MATRIX))
VALUES = MATRIX[ROWS, COLS]

FORMS = {
    "array": lambda: as_observations(MATRIX),
    "nested list": lambda: as_observations(MATRIX.tolist()),
    "triples": lambda: as_observations(ROWS, COLS, VALUES, MATRIX.shape),
    "observations": lambda: as_observations(Observations.from_triples(ROWS, COLS, VALUES, MATRIX.shape)),
    "coo array": lambda: as_observations(scipy.sparse.coo_array((VALUES, (ROWS, COLS)), shape=MATRIX.shape)),
    "csr matrix": lambda: as_observations(scipy.sparse.csr_matrix((VALUES, (ROWS, COLS)), shape=MATRIX.shape)),
    "csc array": lambda: as_observations(scipy.sparse.csc_array((VALUES, (ROWS, COLS)), shape=MATRIX.shape)),
    "frame": lambda: as_observations(pd.DataFrame({"i": ROWS, "j": COLS, "y": VALUES})),
}


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS.keys())
def test_the_cells_are_the_same(make: Callable[[], Observations]) -> None:
    """An explicit zero is an observation, in a sparse matrix too."""
    np.testing.assert_array_equal(dense(make()), MATRIX)


def test_sparse_duplicates_are_refused_or_averaged() -> None:
    matrix = scipy.sparse.coo_array(([1.0, 3.0, 5.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    with pytest.raises(ValueError, match="row 0, column 1"):
        from_sparse(matrix)
    np.testing.assert_array_equal(dense(from_sparse(matrix, "average")), [[np.nan, 2.0], [5.0, np.nan]])


def test_frame_with_string_labels() -> None:
    frame = pd.DataFrame(
        {"stars": [4.0, 3.0, 5.0], "film": ["Ran", "Alien", "Ran"], "who": ["zoe", "ann", "ann"], "when": [1, 2, 3]}
    )
    observations = from_frame(frame, row="who", column="film", value="stars")
    rows, columns = labels_of(observations)
    assert rows.tolist() == ["ann", "zoe"]
    assert columns.tolist() == ["Alien", "Ran"]
    np.testing.assert_array_equal(dense(observations), [[3.0, 5.0], [np.nan, 4.0]])
    assert observations.row_indices(["zoe"]).tolist() == [1]
    assert observations.column_indices(frame["film"]).tolist() == [1, 0, 1]


def test_frame_with_numbers_for_labels_finds_them_again() -> None:
    frame = pd.DataFrame({"user": [70, 5], "item": [3, 900], "stars": [1.0, 2.0]})
    observations = as_observations(frame)
    assert observations.shape == (2, 2)
    assert observations.row_indices(np.array([5, 70])).tolist() == [0, 1]
    assert observations.column_indices([900]).tolist() == [1]


def test_frame_duplicates_are_averaged_on_request() -> None:
    frame = pd.DataFrame({"u": ["a", "a"], "i": ["b", "b"], "y": [1.0, 2.0]})
    assert as_observations(frame, duplicates="average").by_row.values.tolist() == [1.5]


def test_a_masked_array_leaves_its_masked_cells_out() -> None:
    masked = np.ma.masked_array([[1.0, 99.0], [2.0, 3.0]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(dense(as_observations(masked)), [[1.0, np.nan], [2.0, 3.0]])
