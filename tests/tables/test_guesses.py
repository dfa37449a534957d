"""A guess of the layout is safe: long only if columns are labels, wide only if they are measurements."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manifill.tables import read_table
from tests.tables.table_files import assert_holds, labels, put

LONG = {
    "an index after dropna": (",gene,drug,ic50\n0,g,x,1\n2,g,y,2\n7,h,x,3\n", ("gene", "drug", "ic50")),
    "an index after sorting": (",gene,drug,ic50\n7,g,x,1\n0,g,y,2\n2,h,x,3\n", ("gene", "drug", "ic50")),
    "an index that pandas read back": (
        "Unnamed: 0,gene,drug,ic50\n0,g,x,1\n2,g,y,2\n7,h,x,3\n",
        ("gene", "drug", "ic50"),
    ),
    "a value in the first column": ("count,gene,dose\n5,a,x\n6,a,y\n5,b,x\n", ("gene", "dose", "count")),
    "whole numbers named as ids": ("gene_id,batch_id,x\n9,5,1\n9,7,2\n3,5,3\n", ("gene_id", "batch_id", "x")),
    "text and years in no order": ("country,year,gdp\nFR,2001,1\nDE,1999,2\nFR,1999,3\n", ("country", "year", "gdp")),
    "a grid of counts": ("week,store,sales\n1,1,90\n1,2,80\n2,1,70\n2,2,60\n", ("week", "store", "sales")),
    "text and a counter in the order of a grid": ("a,b,c\nx,1,5\nx,2,6\ny,1,7\n", ("a", "b", "c")),
    "a counter and text in the order of a grid": ("a,b,c\n1,x,5\n1,y,6\n2,x,7\n", ("a", "b", "c")),
}


@pytest.mark.parametrize(("text", "columns"), LONG.values(), ids=LONG.keys())
def test_labels_and_numbers_are_long(tmp_path: Path, text: str, columns: tuple[str, str, str]) -> None:
    layout = read_table(put(tmp_path, text)).layout
    assert (layout.kind, layout.row, layout.col, layout.value) == ("long", *columns)


WIDE = {
    "three variables": "age,height,weight\n30,170,65\n30,180,80\n40,170,70\n40,175,71\n",
    "three variables that are sorted": "age,height,weight\n30,170,65\n30,180,80\n40,170,70\n40,180,71\n",
    "a group and two variables": "group,age,height\nx,30,1.5\nx,40,1.6\ny,30,1.7\n",
    "three variables without a header": "30,170,65\n40,180,80\n30,180,70\n40,170,71\n",
    "three counts in no order": "a,b,c\n1,2,3\n2,1,3\n1,1,2\n",
    "names that are distinct": "name,city,a\nann,Bonn,1\nbob,Ulm,2\ncid,Ulm,3\n",
    "an index and variables": ",a,b\n0,1.5,2\n2,3,4\n",
}


@pytest.mark.parametrize("text", WIDE.values(), ids=WIDE.keys())
def test_measurements_are_wide(tmp_path: Path, text: str) -> None:
    assert read_table(put(tmp_path, text)).layout.kind == "wide"


def test_an_id_that_repeats_does_not_make_variables_long(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="both have the row label 1 in the column userId"):
        read_table(put(tmp_path, "userId,age,income\n1,30,100\n1,40,200\n2,30,300\n"))


def test_an_index_is_left_out_and_that_is_said(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, LONG["an index after dropna"][0]))
    assert_holds(table.observations, [[1.0, 2.0], [3.0, np.nan]])
    assert table.notes == (
        "long table: rows are gene, columns are drug, values are ic50 (the unnamed column is left out)",
    )


def test_an_index_in_parquet_is_left_out(tmp_path: Path) -> None:
    frame = pd.DataFrame({"gene": ["g", "g", "h"], "drug": ["x", "y", "x"], "ic50": [1.0, 2.0, 3.0]}, index=[0, 2, 7])
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").layout.kind == "long"


def test_an_index_that_pandas_read_back_labels_the_rows_of_a_wide_table(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "Unnamed: 0,a,b\n0,1.5,2\n2,3,4\n"))
    assert labels(table.observations) == ([0, 2], ["a", "b"])


@pytest.mark.parametrize(
    "text",
    ["gene,drug,ic50\ng,x,1\ng,y,2\nh,x,3\ng,x,4\n", ",gene,drug,ic50\n0,g,x,1\n3,g,y,2\n5,h,x,3\n8,g,x,4\n"],
)
def test_a_duplicated_pair_does_not_make_a_table_wide(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        ValueError,
        match=r"line 2 and line 5 of .* both contain the cell \(row g, column x\); .* pass duplicates='average'",
    ):
        read_table(put(tmp_path, text))
    assert_holds(read_table(put(tmp_path, text), duplicates="average").observations, [[2.5, 2.0], [3.0, np.nan]])


@pytest.mark.parametrize("last", [2**63 - 1, None])
def test_ids_of_any_size_are_compared(last: int | None, tmp_path: Path) -> None:
    """Found by fuzzing: ids of a Parquet file may be 2**63 − 1 apart, or missing."""
    ids = pd.array([0, 0, last, last], dtype="Int64")
    frame = pd.DataFrame({"Unnamed: 0": ids, "drug": [0, 1, 0, 1], "ic50": [1.0, 2.0, 3.0, 4.0]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").observations.size > 0
