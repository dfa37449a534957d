"""Matrices in Matrix Market and npz files."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from manifill.tables import Layout, read_table
from tests.tables.table_files import assert_holds, labels, put

MATRIX = np.array([[0.0, np.nan, 2.5], [np.nan, -1.0, np.nan]])
ROWS, COLS = np.nonzero(~np.isnan(MATRIX))
VALUES = MATRIX[ROWS, COLS]
SPARSE = scipy.sparse.coo_array((VALUES, (ROWS, COLS)), shape=MATRIX.shape)


def matrix_market(matrix: object) -> bytes:
    file = BytesIO()
    scipy.io.mmwrite(file, matrix)
    return file.getvalue()


def stored(matrix: object) -> bytes:
    file = BytesIO()
    scipy.sparse.save_npz(file, matrix)
    return file.getvalue()


def saved(*arrays: Any, **named: Any) -> bytes:
    file = BytesIO()
    np.savez(file, *arrays, **named)
    return file.getvalue()


MATRICES = {
    "Matrix Market": ("m.mtx", matrix_market(SPARSE)),
    "Matrix Market, compressed": ("m.mtx.gz", matrix_market(SPARSE)),
    "coo": ("m.npz", stored(SPARSE)),
    "csr": ("m.npz", stored(SPARSE.tocsr())),
    "csc matrix": ("m.npz", stored(scipy.sparse.csc_matrix(SPARSE))),
    "triples": ("m.npz", saved(rows=ROWS, cols=COLS, values=VALUES, shape=MATRIX.shape)),
    "triples without a shape": ("m.npz", saved(rows=ROWS, cols=COLS, values=VALUES)),
    "array": ("m.npz", saved(MATRIX)),
}


@pytest.mark.parametrize(("name", "data"), MATRICES.values(), ids=MATRICES.keys())
def test_matrices(tmp_path: Path, name: str, data: bytes) -> None:
    """A stored zero is an observation."""
    table = read_table(put(tmp_path, data, name))
    assert_holds(table.observations, MATRIX)
    counted_from_one = [1, 2], [1, 2, 3]  # as the lines of a Matrix Market file count
    assert labels(table.observations) == (counted_from_one if name.startswith("m.mtx") else (None, None))
    assert (table.layout, table.notes) == (Layout("wide"), ())


def test_the_shape_may_be_larger_than_the_observed_part(tmp_path: Path) -> None:
    data = saved(rows=ROWS, cols=COLS, values=VALUES, shape=(3, 4))
    assert read_table(put(tmp_path, data, "m.npz")).observations.shape == (3, 4)


def test_a_dense_matrix_market_file_is_observed_everywhere(tmp_path: Path) -> None:
    dense = np.array([[1.5, 0.0], [2.0, 3.0]])
    assert_holds(read_table(put(tmp_path, matrix_market(dense), "m.mtx")).observations, dense)


@pytest.mark.parametrize(("symmetry", "mirrored"), [("symmetric", 5.0), ("skew-symmetric", -5.0)])
def test_both_halves_of_a_symmetric_matrix_are_read(tmp_path: Path, symmetry: str, mirrored: float) -> None:
    text = f"%%MatrixMarket matrix coordinate integer {symmetry}\n% Gödel\n3 3 2\n2 1 5\n\n3 3 0\n"
    expected = [[np.nan, mirrored, np.nan], [5.0, np.nan, np.nan], [np.nan, np.nan, 0.0]]
    assert_holds(read_table(put(tmp_path, text, "m.mtx")).observations, expected)


def test_more_digits_than_a_double_are_accepted(tmp_path: Path) -> None:
    text = "%%MatrixMarket matrix array real general\n1 2\n1.50000000000000000000000000\n2.5\n"
    assert_holds(read_table(put(tmp_path, text, "m.mtx")).observations, [[1.5, 2.5]])


@pytest.mark.parametrize("make", [matrix_market, stored])
def test_a_random_matrix_is_read_exactly(tmp_path: Path, make: Callable[[object], bytes]) -> None:
    rng = np.random.default_rng(0)
    matrix = scipy.sparse.coo_array(np.where(rng.random((30, 20)) < 0.3, rng.standard_normal((30, 20)), 0.0))
    name = "m.mtx" if make is matrix_market else "m.npz"
    rows, cols, values = read_table(put(tmp_path, make(matrix), name)).observations.triples()
    np.testing.assert_array_equal(scipy.sparse.coo_array((values, (rows, cols))).toarray(), matrix.toarray())


def test_duplicates_in_a_matrix_are_averaged_on_request(tmp_path: Path) -> None:
    path = put(tmp_path, b"%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 3\n1 1 5\n2 2 1\n", "m.mtx")
    assert_holds(read_table(path, duplicates="average").observations, [[4.0, np.nan], [np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"line 3 and line 4 of .*m\.mtx both contain the cell \(row 1, column 1\)"):
        read_table(path)


def test_nothing_in_an_npz_file_is_unpickled(tmp_path: Path) -> None:
    path = put(tmp_path, saved(np.array([[None]], dtype=object)), "m.npz")
    with pytest.raises(ValueError, match="allow_pickle=False"):
        read_table(path)
