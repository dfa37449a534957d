"""Parquet, Matrix Market and npz."""

from collections.abc import Callable
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from manifill.tables import Layout, read_table
from tests.tables.files import assert_holds, labels, put

MATRIX = np.array([[0.0, np.nan, 2.5], [np.nan, -1.0, np.nan]])
ROWS, COLS = np.nonzero(~np.isnan(MATRIX))
VALUES = MATRIX[ROWS, COLS]
SPARSE = scipy.sparse.coo_array((VALUES, (ROWS, COLS)), shape=MATRIX.shape)


def market(matrix: object) -> bytes:
    file = BytesIO()
    scipy.io.mmwrite(file, matrix)
    return file.getvalue()


def stored(matrix: object) -> bytes:
    file = BytesIO()
    scipy.sparse.save_npz(file, matrix)
    return file.getvalue()


def saved(*arrays: object, **named: object) -> bytes:
    file = BytesIO()
    np.savez(file, *arrays, **named)
    return file.getvalue()


MATRICES = {
    "market": ("m.mtx", market(SPARSE)),
    "market, compressed": ("m.mtx.gz", market(SPARSE)),
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
    assert labels(table.observations) == (None, None)
    assert (table.layout, table.said) == (Layout("wide"), ())


def test_a_shape_may_be_larger_than_its_cells(tmp_path: Path) -> None:
    data = saved(rows=ROWS, cols=COLS, values=VALUES, shape=(3, 4))
    assert read_table(put(tmp_path, data, "m.npz")).observations.shape == (3, 4)


def test_a_dense_market_matrix_is_observed_everywhere(tmp_path: Path) -> None:
    dense = np.array([[1.5, 0.0], [2.0, 3.0]])
    assert_holds(read_table(put(tmp_path, market(dense), "m.mtx")).observations, dense)


@pytest.mark.parametrize(("symmetry", "mirrored"), [("symmetric", 5.0), ("skew-symmetric", -5.0)])
def test_half_of_a_symmetric_market_matrix_stands_for_both(tmp_path: Path, symmetry: str, mirrored: float) -> None:
    text = f"%%MatrixMarket matrix coordinate integer {symmetry}\n% Gödel\n3 3 2\n2 1 5\n\n3 3 0\n"
    expected = [[np.nan, mirrored, np.nan], [5.0, np.nan, np.nan], [np.nan, np.nan, 0.0]]
    assert_holds(read_table(put(tmp_path, text, "m.mtx")).observations, expected)


def test_digits_beyond_a_double_do_no_harm(tmp_path: Path) -> None:
    text = "%%MatrixMarket matrix array real general\n1 2\n1.50000000000000000000000000\n2.5\n"
    assert_holds(read_table(put(tmp_path, text, "m.mtx")).observations, [[1.5, 2.5]])


@pytest.mark.parametrize("make", [market, stored])
def test_a_random_matrix_comes_back_to_the_last_bit(tmp_path: Path, make: Callable[[object], bytes]) -> None:
    rng = np.random.default_rng(0)
    matrix = scipy.sparse.coo_array(np.where(rng.random((30, 20)) < 0.3, rng.standard_normal((30, 20)), 0.0))
    name = "m.mtx" if make is market else "m.npz"
    rows, cols, values = read_table(put(tmp_path, make(matrix), name)).observations.triples()
    np.testing.assert_array_equal(scipy.sparse.coo_array((values, (rows, cols))).toarray(), matrix.toarray())


def test_duplicates_in_a_matrix_are_averaged_on_request(tmp_path: Path) -> None:
    path = put(tmp_path, b"%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 3\n1 1 5\n2 2 1\n", "m.mtx")
    assert_holds(read_table(path, duplicates="average").observations, [[4.0, np.nan], [np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"m\.mtx .* \(row 0, column 0\) is given more than once"):
        read_table(path)


def test_nothing_in_an_npz_file_is_unpickled(tmp_path: Path) -> None:
    path = put(tmp_path, saved(np.array([[None]], dtype=object)), "m.npz")
    with pytest.raises(ValueError, match="allow_pickle=False"):
        read_table(path)


def parquet(tmp_path: Path, frame: pd.DataFrame) -> Path:
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    return path


def test_a_long_parquet_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"userId": [7, 7, 2], "movieId": ["b", "a", "b"], "rating": [4.0, 3.5, None]})
    table = read_table(parquet(tmp_path, frame))
    assert_holds(table.observations, [[np.nan, np.nan], [3.5, 4.0]])
    assert labels(table.observations) == ([2, 7], ["a", "b"])


def test_a_wide_parquet_file_of_many_types(tmp_path: Path) -> None:
    columns = {
        "who": pd.Categorical(["ann", "bob"]),
        "float": np.array([1.5, np.nan], dtype=np.float32),
        "nullable": pd.array([None, 2], dtype="Int64"),
        "decimal": [Decimal("1.25"), None],
        "text": ["NA", "0.5"],
        "flag": [True, False],
        "list": [[1], [2]],
        "nothing": [None, None],
    }
    table = read_table(parquet(tmp_path, pd.DataFrame(columns)))
    assert_holds(table.observations, [[1.5, np.nan, 1.25, np.nan, np.nan], [np.nan, 2.0, np.nan, 0.5, np.nan]])
    assert labels(table.observations) == (["ann", "bob"], ["float", "nullable", "decimal", "text", "nothing"])
    assert table.layout.left_out == ("flag", "list")


@pytest.mark.parametrize(("name", "called"), [(None, ""), ("batch", "batch")])
def test_an_index_names_rows(tmp_path: Path, name: str | None, called: str) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], 7: [3.5, 4.5]}, index=pd.Index([30, 10], name=name)).rename(columns=str)
    table = read_table(parquet(tmp_path, frame))
    assert labels(table.observations) == ([30, 10], ["a", "7"])
    assert table.layout.row == called


def test_an_index_of_pairs_is_long(tmp_path: Path) -> None:
    frame = pd.DataFrame({"user": ["x", "x", "y"], "item": ["p", "q", "p"], "a": [1.0, 2.0, 3.0]})
    table = read_table(parquet(tmp_path, frame.set_index(["user", "item"])))
    assert_holds(table.observations, [[1.0, 2.0], [3.0, np.nan]])
