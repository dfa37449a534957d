"""Labels: integers stay integers, text stays as in the file."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from manifill.tables import read_table
from tests.problem.cells import labels_of
from tests.tables.table_files import labels, put

LABELS = {
    "whole numbers": (["10", "9", "-3"], [-3, 9, 10], "integer"),
    "whole numbers with a decimal": (["10.0", "9.0", "2.0"], [2, 9, 10], "integer"),
    "leading zeros": (["007", "8", "10"], ["007", "10", "8"], "text"),
    "a leading zero in a later row": (["7", "8", "08"], ["08", "7", "8"], "text"),
    "zero itself": (["0", "1", "2"], [0, 1, 2], "integer"),
    "decimals": (["0.50", "2.5", "1"], ["0.50", "1", "2.5"], "text"),
    "dates": (["2020-02-01", "2020-01-01", "2021-01-01"], ["2020-01-01", "2020-02-01", "2021-01-01"], "text"),
    "text": (["b", "a", "C"], ["C", "a", "b"], "text"),
    "text and numbers": (["b", "1", "02"], ["02", "1", "b"], "text"),
    "too large for 64 bits": (["123456789012345678901", "1", "2"], ["1", "123456789012345678901", "2"], "text"),
    "large": (["9007199254740993", "9007199254740992", "5"], [5, 9007199254740992, 9007199254740993], "integer"),
    "booleans": (["True", "FALSE", "true"], ["FALSE", "True", "true"], "text"),
}


@pytest.mark.parametrize(("written", "expected", "kind"), LABELS.values(), ids=LABELS.keys())
def test_labels_of_a_long_table(tmp_path: Path, written: list[str], expected: list[Any], kind: str) -> None:
    table = read_table(put(tmp_path, "user,item,value\n" + "".join(f"{label},i,1.5\n" for label in written)))
    assert labels(table.observations) == (expected, ["i"])
    assert (table.layout.row_labels, table.layout.column_labels) == (kind, "text")


@pytest.mark.parametrize(("written", "expected", "kind"), LABELS.values(), ids=LABELS.keys())
def test_labels_of_a_wide_table(tmp_path: Path, written: list[str], expected: list[Any], kind: str) -> None:
    text = "id,a,b\n" + "".join(f"{label},1,2.5\n" for label in written)
    table = read_table(put(tmp_path, text), id_column="id")
    assert sorted(labels_of(table.observations)[0].tolist()) == expected
    assert table.layout.row_labels == kind


def test_labels_find_their_rows(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "user,item,value\n7,010,1\n5,9,2\n"))
    assert table.observations.row_indices([7, 5]).tolist() == [1, 0]
    assert table.observations.column_indices(["9", "010"]).tolist() == [1, 0]


def test_labels_can_be_saved_without_pickle(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "user,item,value\n7,x,1\n5,y,2\n"))
    assert [found.dtype.kind for found in labels_of(table.observations)] == ["i", "U"]


def test_text_in_parquet_stays_text(tmp_path: Path) -> None:
    """Unlike CSV, Parquet declares which columns are text."""
    frame = pd.DataFrame({"id": ["1", "2"], "a": [1.0, 2.0], "when": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert labels(table.observations) == (["1", "2"], ["a"])
    dates = read_table(tmp_path / "t.parquet", id_column="when")
    assert labels(dates.observations)[0] == ["2020-01-01", "2020-01-02"]
