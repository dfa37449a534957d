"""Text that a spreadsheet would run as a formula is written with an apostrophe, and read without it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manifill.tables import Layout, read_pairs, read_table, write_table
from manifill.tables.formula_guard import guarded, guarded_frame, without_guard
from tests.tables.table_files import labels

FORMULAS = ["=cmd()", "+1+cmd()", "-2+3", "@sum(a1)", "\t=x", "\r=x", "=1", "--", "-x", "'=x", "''-y"]
HARMLESS = [
    "plain",
    "",
    "-",
    "+",
    "=",
    "@",
    "-5",
    "+3.5",
    "-1e-5",
    "-1,5",
    "-1.234,5",
    "+12 %",
    "-inf",
    "a=b",
    "'tis",
    "'",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_guarded(text: str) -> None:
    assert guarded(text) == f"'{text}"
    assert without_guard(guarded(text)) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_is_unchanged(text: str) -> None:
    assert guarded(text) == without_guard(text) == text


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text("'=+-@\t\r1.ax ", max_size=5))
def test_reading_is_the_inverse_of_writing(text: str) -> None:
    assert without_guard(guarded(text)) == text


FRAME = pd.DataFrame({"who": ["=a()", "b"], "-x+y": [-1.5, 2.0], 7: [1.0, -2.0], "note": ["@z", None]})


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz"])
def test_text_and_names_are_guarded_in_files_of_text(tmp_path: Path, name: str) -> None:
    write_table(FRAME, tmp_path / name)
    found = pd.read_csv(tmp_path / name, sep="\t" if "tsv" in name else ",")
    assert list(found) == ["who", "'-x+y", "7", "note"]
    assert list(found["who"]) == ["'=a()", "b"]
    assert list(found["'-x+y"]) == [-1.5, 2.0]
    assert found["note"][0] == "'@z"
    assert found["note"].isna()[1]


def test_the_guard_can_be_left_out(tmp_path: Path) -> None:
    write_table(FRAME, tmp_path / "t.csv", raw_labels=True)
    assert (tmp_path / "t.csv").read_text().splitlines()[:2] == ["who,-x+y,7,note", "=a(),-1.5,1.0,@z"]


def test_parquet_is_not_guarded(tmp_path: Path) -> None:
    write_table(FRAME, tmp_path / "t.parquet")
    found = pd.read_parquet(tmp_path / "t.parquet")
    assert list(found) == ["who", "-x+y", "7", "note"]
    assert list(found["who"]) == ["=a()", "b"]


def test_a_frame_without_formulas_is_not_copied() -> None:
    frame = pd.DataFrame({"who": ["a", "b"], "x": [-1.0, 2.0]})
    assert guarded_frame(frame) is frame


def test_the_given_frame_is_not_changed() -> None:
    frame = FRAME.copy()
    guarded_frame(frame)
    pd.testing.assert_frame_equal(frame, FRAME)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet"])
def test_labels_come_back(tmp_path: Path, name: str) -> None:
    names = [*FORMULAS[:4], "-", "-5", "plain", "'=x"]
    wide = pd.DataFrame(np.arange(16.0).reshape(8, 2), columns=["=f()", "b"]).assign(id=names)
    write_table(wide, tmp_path / name)
    assert labels(read_table(tmp_path / name, id_column="id").observations) == (names, ["=f()", "b"])
    long = pd.DataFrame({"who": names * 2, "what": ["@p"] * 8 + ["q"] * 8, "x": np.arange(16.0)})
    write_table(long, tmp_path / name)
    table = read_table(tmp_path / name)
    assert labels(table.observations) == (sorted(names), ["@p", "q"])
    pairs = read_pairs(tmp_path / name, table.layout)
    assert (pairs.rows.tolist(), pairs.cols.tolist()) == (names * 2, ["@p"] * 8 + ["q"] * 8)


def test_pairs_find_guarded_labels(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("r,c\n'=a(),'-x+y\n=a(),-x+y\n")
    pairs = read_pairs(tmp_path / "p.csv", Layout("long", "r", "c", row_labels="text", column_labels="text"))
    assert (pairs.rows.tolist(), pairs.cols.tolist()) == (["=a()"] * 2, ["-x+y"] * 2)
