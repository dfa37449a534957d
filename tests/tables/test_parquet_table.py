"""Long and wide tables in Parquet files."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manifill.tables import read_table
from tests.tables.table_files import assert_holds, labels


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


@pytest.mark.parametrize(("name", "expected"), [(None, ""), ("batch", "batch")])
def test_an_index_contains_row_labels(tmp_path: Path, name: str | None, expected: str) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], 7: [3.5, 4.5]}, index=pd.Index([30, 10], name=name)).rename(columns=str)
    table = read_table(parquet(tmp_path, frame))
    assert labels(table.observations) == ([30, 10], ["a", "7"])
    assert table.layout.row == expected


def test_an_index_of_pairs_makes_a_long_table(tmp_path: Path) -> None:
    frame = pd.DataFrame({"user": ["x", "x", "y"], "item": ["p", "q", "p"], "a": [1.0, 2.0, 3.0]})
    table = read_table(parquet(tmp_path, frame.set_index(["user", "item"])))
    assert_holds(table.observations, [[1.0, 2.0], [3.0, np.nan]])
