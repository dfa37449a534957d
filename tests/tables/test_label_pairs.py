"""Cells to predict, by the labels of the fit."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manifill.tables import Layout, read_pairs, read_table
from tests.problem.cells import labels_of
from tests.tables.table_files import put

RATINGS = Layout("long", "userId", "movieId", "rating")
TEXT = Layout("long", "who", "film", "stars", row_labels="text", column_labels="text")


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    pairs = read_pairs(put(tmp_path, "movieId,note,userId\n30,01,7\n10,NA,2\n"), RATINGS)
    assert (pairs.rows.tolist(), pairs.cols.tolist()) == ([7, 2], [30, 10])
    assert pairs.notes == ()


def test_other_columns_of_the_frame_are_unchanged(tmp_path: Path) -> None:
    frame = read_pairs(put(tmp_path, "movieId,note,userId\n30,01,7\n10,NA,2\n"), RATINGS).frame
    expected = {"movieId": [30, 10], "note": ["01", "NA"], "userId": [7, 2]}
    assert frame.to_dict("list") == expected
    assert list(frame) == list(expected)


def test_the_first_columns_are_used_and_noted_if_names_differ(tmp_path: Path) -> None:
    pairs = read_pairs(put(tmp_path, "u,m,x\n7,30,5\n2,10,6\n"), RATINGS)
    assert (pairs.rows.tolist(), pairs.cols.tolist()) == ([7, 2], [30, 10])
    assert pairs.notes == ("rows are u, columns are m",)


def test_one_known_name_is_enough(tmp_path: Path) -> None:
    """A wide table has no name for its columns, but may have one for its rows."""
    layout = Layout("wide", "MouseID", row_labels="text", column_labels="text")
    pairs = read_pairs(put(tmp_path, "protein,MouseID\nP1,309_1\n"), layout)
    assert (pairs.rows.tolist(), pairs.cols.tolist()) == (["309_1"], ["P1"])
    assert pairs.notes == ("rows are MouseID, columns are protein",)


def test_numbers_without_a_header(tmp_path: Path) -> None:
    pairs = read_pairs(put(tmp_path, "0,3\n1,2\n"), Layout("wide"))
    assert (pairs.rows.tolist(), pairs.cols.tolist()) == ([0, 1], [3, 2])


@pytest.mark.parametrize(
    ("layout", "written", "expected"),
    [
        (RATINGS, "007", 7),
        (RATINGS, "7.0", 7),
        (TEXT, "007", "007"),
        (TEXT, "7", "7"),
        (TEXT, "7.0", "7.0"),
        (TEXT, "2020-01-01", "2020-01-01"),
    ],
)
def test_labels_have_the_kind_of_the_fit(tmp_path: Path, layout: Layout, written: str, expected: object) -> None:
    rows = read_pairs(put(tmp_path, f"{layout.row},{layout.col}\n{written},1\n"), layout).rows
    assert rows.tolist() == [expected]
    assert type(rows.tolist()[0]) is type(expected)


@pytest.mark.parametrize("layout", [RATINGS, TEXT])
def test_parquet(tmp_path: Path, layout: Layout) -> None:
    frame = pd.DataFrame({layout.col: [30, 10], layout.row: [7, 2], "x": [0.5, np.nan]})
    frame.to_parquet(tmp_path / "p.parquet")
    pairs = read_pairs(tmp_path / "p.parquet", layout)
    assert pairs.rows.tolist() == ([7, 2] if layout is RATINGS else ["7", "2"])
    assert pairs.frame["x"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    "text", ["user,item,rating\n7,010,1\n5,9,2\n", "id,010,9\n7,1,\n5,,2\n", "id,x,y\n07,1,\n5,,2\n"]
)
def test_pairs_find_the_cells_of_the_fit(tmp_path: Path, text: str) -> None:
    """Labels that are written and read again identify every row and column."""
    table = read_table(put(tmp_path, text))
    observations = table.observations
    rows, cols, _ = observations.triples()
    row_labels, column_labels = labels_of(observations)
    frame = pd.DataFrame({"r": row_labels[rows], "c": column_labels[cols]})
    pairs = read_pairs(put(tmp_path, frame.to_csv(index=False), "pairs.csv"), table.layout)
    np.testing.assert_array_equal(observations.row_indices(pairs.rows), rows)
    np.testing.assert_array_equal(observations.column_indices(pairs.cols), cols)


INVALID = {
    "a word": ("u,m\n1,2\nann,3\n", "line 3 of .*p.csv has 'ann' in the column 'u'; give whole numbers"),
    "a decimal": ("u,m\n1,2\n1.5,3\n", "line 3 of .*p.csv has '1.5' in the column 'u'; give whole numbers"),
    "no label": ("u,m\n1,2\n1,\n", "line 3 of .*p.csv has the missing entry '' in the column 'm'"),
    "one column": ("u\n1\n", "p.csv has a single column"),
    "no lines": ("u,m\n", "p.csv has a header line and nothing below it"),
}


@pytest.mark.parametrize(("text", "message"), INVALID.values(), ids=INVALID.keys())
def test_invalid_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_pairs(put(tmp_path, text, "p.csv"), RATINGS)


def test_a_single_column_of_parquet_is_invalid(tmp_path: Path) -> None:
    pd.DataFrame({"userId": [1]}).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(ValueError, match=r"p\.parquet has a single column; give one of row labels"):
        read_pairs(tmp_path / "p.parquet", RATINGS)


def test_a_matrix_file_is_invalid(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"m\.npz has an unsupported extension"):
        read_pairs(put(tmp_path, b"x", "m.npz"), RATINGS)
