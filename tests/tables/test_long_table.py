"""Long tables: the inferred columns for rows, columns and values, and the cells."""

from pathlib import Path

import numpy as np
import pytest

from manifill.tables import Layout, read_table
from tests.tables.table_files import assert_holds, labels, put

RATINGS = "userId,movieId,rating,timestamp\n7,30,4.0,96\n7,10,3.5,97\n2,30,1.0,98\n"
RATED = [[np.nan, 1.0], [3.5, 4.0]]  # users 2 and 7, movies 10 and 30


def test_ratings_are_recognised(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, RATINGS))
    assert_holds(table.observations, RATED)
    assert labels(table.observations) == ([2, 7], [10, 30])
    assert table.layout == Layout("long", "userId", "movieId", "rating", left_out=("timestamp",), guessed=True)
    assert table.notes == (
        "long table: rows are userId, columns are movieId, values are rating (timestamp is left out)",
    )


def test_no_notes_if_every_column_is_given(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, RATINGS), row="movieId", col="userId", value="timestamp")
    assert_holds(table.observations, [[np.nan, 97.0], [98.0, 96.0]])
    assert table.notes == ()
    assert not table.layout.guessed


def test_notes_on_columns_that_are_not_given(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, RATINGS), value="timestamp")
    assert (table.layout.row, table.layout.col, table.layout.value) == ("userId", "movieId", "timestamp")
    assert table.notes == (
        "long table: rows are userId, columns are movieId, values are timestamp (rating is left out)",
    )


INFERRED = {
    "text that repeats": ("a,b,c\nx,p,1\nx,q,2\ny,p,3\n", ("a", "b", "c")),
    "whole numbers that repeat": ("a,b,c\n1,1,9\n1,2,8\n2,1,7\n", ("a", "b", "c")),
    "no header": ("5,1,9.5\n5,2,8\n6,1,7\n", ("0", "1", "2")),
    "country and year": ("country,year,gdp\nDE,2000,1.5\nDE,2001,1.6\nFR,2000,1.7\n", ("country", "year", "gdp")),
    "one column of numbers": (
        "line,drug,tissue,ic50\na,x,lung,0.5\na,y,lung,0.6\nb,x,skin,0.7\n",
        ("line", "drug", "ic50"),
    ),
    "any order": ("stars,when,film,user\n1,5,p,x\n2,5,q,x\n2,6,p,y\n", ("user", "film", "stars")),
    "a name that suggests values": ("who,what,when,score\nx,p,5,1\nx,q,6,2\ny,p,7,2\n", ("who", "what", "score")),
    "names that suggest labels": (
        "user_id,item_id,plays,date\n1,5,7,8\n1,6,8,9\n2,5,7,7\n",
        ("user_id", "item_id", "plays"),
    ),
    "melted": ("gene,variable,value\nA,s1,0.5\nA,s2,0.6\nB,s1,0.7\n", ("gene", "variable", "value")),
    "one line under known names": ("row,col,value\n1,2,0.5\n", ("row", "col", "value")),
    "row numbers of pandas": (",a,b,c\n0,x,p,1\n1,x,q,2\n2,y,p,3\n", ("a", "b", "c")),
    "default column names of pandas": ("0,1,2\n4,5,0.5\n4,6,1.5\n5,5,2.5\n", ("0", "1", "2")),
}


@pytest.mark.parametrize(("text", "columns"), INFERRED.values(), ids=INFERRED.keys())
def test_inferred_columns(tmp_path: Path, text: str, columns: tuple[str, str, str]) -> None:
    layout = read_table(put(tmp_path, text)).layout
    assert (layout.kind, layout.row, layout.col, layout.value) == ("long", *columns)


def test_given_columns_override_inference(tmp_path: Path) -> None:
    """Numbers with decimals are never inferred to be labels, but the caller may choose them."""
    text = "time,place,x\n0.5,a,1\n0.75,a,2\n"
    assert read_table(put(tmp_path, text)).layout.kind == "wide"
    table = read_table(put(tmp_path, text), row="place", col="time", value="x")
    assert_holds(table.observations, [[1.0, 2.0]])
    assert labels(table.observations) == (["a"], ["0.5", "0.75"])


def test_a_line_without_a_value_is_an_unobserved_cell(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "user,item,rating\na,x,1\na,y,NA\nb,x,\n"))
    assert_holds(table.observations, [[1.0, np.nan], [np.nan, np.nan]])
    assert table.notes[1:] == ("2 lines have no value; their cells are not observed",)


def test_duplicates_raise_an_error_or_are_averaged(tmp_path: Path) -> None:
    path = put(tmp_path, "user,item,rating\n\na,x,1\nb,x,5\na,x,2\n")
    with pytest.raises(ValueError, match=r"line 3 and line 5 of .* the cell \(row a, column x\); .*'average'"):
        read_table(path)
    assert_holds(read_table(path, duplicates="average").observations, [[1.5], [5.0]])


def test_a_pair_without_a_value_is_not_a_duplicate(tmp_path: Path) -> None:
    assert_holds(read_table(put(tmp_path, "user,item,rating\na,x,1\na,x,\n")).observations, [[1.0]])
