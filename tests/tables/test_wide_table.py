"""Wide tables: the column of row labels, the columns of the matrix, and those that are left out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manifill.tables import Layout, read_table
from tests.tables.table_files import assert_holds, labels, put

MICE = "MouseID,P1_N,P2_N,Genotype,class\n309_1,0.5,,Control,c-CS\n309_2,0.6,2,Control,c-CS\nJ1_1,?,3,Ts65,t-CS\n"
MATRIX = [[0.5, np.nan], [0.6, 2.0], [np.nan, 3.0]]


def test_rows_have_labels_and_text_is_left_out(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, MICE))
    assert_holds(table.observations, MATRIX)
    assert labels(table.observations) == (["309_1", "309_2", "J1_1"], ["P1_N", "P2_N"])
    assert table.layout == Layout(
        "wide", "MouseID", row_labels="text", column_labels="text", left_out=("Genotype", "class"), guessed=True
    )
    assert table.notes == (
        "wide table: 3 rows named by MouseID, 2 columns; Genotype and class are not numbers and are left out",
    )


def test_notes_only_on_what_is_left_out_if_rows_are_given(tmp_path: Path) -> None:
    path = put(tmp_path, MICE)
    table = read_table(path, wide=True, id_column="MouseID")
    assert table.notes == ("Genotype and class are not numbers and are left out",)
    assert not table.layout.guessed
    assert read_table(put(tmp_path, "a,b\nx,1\ny,2\n"), id_column="a").notes == ()


def test_rows_keep_the_order_of_the_file(tmp_path: Path) -> None:
    assert labels(read_table(put(tmp_path, "id,x,y\n9,1,2\n3,3,4\n")).observations) == ([9, 3], ["x", "y"])


def test_numbers_under_a_header(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "a,b,c,d\n1,2.5,NA,4\n5,6,7,8\n"))
    assert_holds(table.observations, [[1, 2.5, np.nan, 4], [5, 6, 7, 8]])
    assert labels(table.observations) == (None, ["a", "b", "c", "d"])
    assert table.notes == ("wide table: 2 rows numbered from 0, 4 columns",)


def test_numbers_without_a_header(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "1,2,,4\n5,6,7,8\n"))
    assert_holds(table.observations, [[1, 2, np.nan, 4], [5, 6, 7, 8]])
    assert labels(table.observations) == (None, None)
    assert table.notes == (
        "the first line contains no column names, so columns are numbered from 0",
        "wide table: 2 rows numbered from 0, 4 columns",
    )


IDS = {
    "pandas' index": (",a,b\n5,1,2.5\n6,3,4\n", "", [5, 6]),
    "pandas' index with integer columns": (",0,1\n5,1,2.5\n6,3,4\n", "", [5, 6]),
    "an empty corner": (",10,20,30\nx1,1,2.5,1\n7,3,4,1\n", "", ["x1", "7"]),
    "a header that is one short, as R's": ("a\tb\nr1\t1\t2.5\nr2\t3\t4\n", "", ["r1", "r2"]),
    "text anywhere": ("a,b,who\n1,2,ann\n3,4,bob\n", "who", ["ann", "bob"]),
    "the first of two": ("name,city,a\nann,Bonn,1\nbob,Ulm,2\n", "name", ["ann", "bob"]),
    "the first that is distinct": ("group,who,a\nx,ann,1\nx,bob,2\n", "who", ["ann", "bob"]),
    "whole numbers called id": ("a,sample_id,b\n1,4,2\n1,8,3\n", "sample_id", [4, 8]),
    "whole numbers called user": ("user,1,20\n4,1,2\n8,1,3\n", "user", [4, 8]),
    "text and numbers called id": ("gene id,a,b\n7,1,2\n8,3,4\nx9,5,6\n", "gene id", ["7", "8", "x9"]),
    "whole numbers called anything": ("height,a,b\n4,1,2.5\n8,3,4\n", None, None),
    "decimals called id": ("void id,a,b\n4.5,1,2\n8,3,4\n", None, None),
    "text with a missing entry": ("who,a,b\nann,1,2.5\n,3,4\n", None, None),
    "text that repeats": ("group,a,b\nx,1,2.5\nx,3,4\n", None, None),
}


@pytest.mark.parametrize(("text", "name", "ids"), IDS.values(), ids=IDS.keys())
def test_the_column_of_row_labels(tmp_path: Path, text: str, name: str | None, ids: list[Any] | None) -> None:
    table = read_table(put(tmp_path, text, "t.tsv" if "\t" in text else "t.csv"))
    assert (table.layout.kind, table.layout.row) == ("wide", name)
    assert labels(table.observations)[0] == ids


def test_integer_column_names_stay_integers(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "userId,30,7\n1,4,\n2,,5\n"))
    assert labels(table.observations) == ([1, 2], [30, 7])
    assert table.layout.column_labels == "integer"


def test_a_monotone_scale_can_be_a_header(tmp_path: Path) -> None:
    assert labels(read_table(put(tmp_path, "s,400.5,401,401.5\nx,1,2,3\ny,1,2,3\n")).observations) == (
        ["x", "y"],
        ["400.5", "401", "401.5"],
    )


def test_default_column_names_of_pandas_are_a_header(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "0,1,2,3\n1.5,2,3,4\n"))
    assert_holds(table.observations, [[1.5, 2, 3, 4]])
    assert table.notes[0] == "the first line, 0 to 3, is read as column names"


def test_other_ids_are_left_out(tmp_path: Path) -> None:
    """An id is a number that is not a measurement; an acid is not an id."""
    table = read_table(put(tmp_path, "GeneID,EntrezID,acid\nA,70,1\nB,80,2\n"))
    assert_holds(table.observations, [[1.0], [2.0]])
    assert table.notes == ("wide table: 2 rows named by GeneID, 1 column; EntrezID is an id and is left out",)


def test_lines_that_end_in_a_separator(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "a,b,\n1.5,2,\n3,4,\n"))
    assert_holds(table.observations, [[1.5, 2], [3, 4]])


def test_rows_and_columns_without_any_cell_are_kept(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "id,a,b\nx,1,\ny,,\n"))
    assert_holds(table.observations, [[1, np.nan], [np.nan, np.nan]])


@pytest.mark.parametrize("word", ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "?", " "])
def test_missing_entries(tmp_path: Path, word: str) -> None:
    assert_holds(read_table(put(tmp_path, f"id,a,b\nx,1.5,{word}\ny,2,3\n")).observations, [[1.5, np.nan], [2, 3]])


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n0,0,5\n0,0,7\n1,2,0\n",  # counts: a pair of labels would occur twice
        "a,b,c\n1,2,3\n4,5,6\n",
        "a,b,c\n0.5,1,5\n0.5,2,7\n1,1,0\n",
        "group,age,score,height\nx,30,1,1.5\nx,40,2,1.6\ny,30,3,1.7\n",  # more than one column of numbers
    ],
)
def test_wide_tables_that_resemble_long_ones(tmp_path: Path, text: str) -> None:
    assert read_table(put(tmp_path, text)).layout.kind == "wide"


def test_the_caller_can_choose_wide(tmp_path: Path) -> None:
    text = "a,b,c\n1,1,9\n1,2,8\n2,1,7\n"
    assert read_table(put(tmp_path, text)).layout.kind == "long"
    assert_holds(read_table(put(tmp_path, text), wide=True).observations, [[1, 1, 9], [1, 2, 8], [2, 1, 7]])
