"""Text files: encodings, separators, decimals, headers and lines."""

import codecs
from pathlib import Path

import numpy as np
import pytest

from manifill.tables import read_table
from tests.tables.table_files import assert_holds, labels, put

MATRIX = [[1.5, np.nan], [2.25, 1000.0]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "id,a,b\nx,1.5,\ny,2.25,1e3\n"),
        ("t.CSV", "id,a,b\nx,1.5,\ny,2.25,1e3\n"),
        ("t.csv.gz", "id,a,b\nx,1.5,\ny,2.25,1e3\n"),
        ("t.tsv", "id\ta\tb\nx\t1.5\t\ny\t2.25\t1e3\n"),
        ("t.tsv.gz", "id\ta\tb\nx\t1.5\t\ny\t2.25\t1e3\n"),
        ("t.txt", "id\ta\tb\nx\t1.5\t\ny\t2.25\t1e3\n"),
        ("t.txt", "id,a,b\nx,1.5,\ny,2.25,1e3\n"),
        ("t.csv", "\n\nid, a, b\n\nx, 1.5, \n  \ny, 2.25, 1e3\n\n"),
        ("t.csv", "id,a,b\r\nx,1.5,\r\ny,2.25,1e3\r\n"),
        ("t.csv", "id,a,b\rx,1.5,\ry,2.25,1e3\r"),
        ("t.csv", '"id","a","b"\n"x","1.5",""\n"y","2.25","1e3"'),
    ],
)
def test_one_table_in_many_formats(tmp_path: Path, name: str, text: str) -> None:
    table = read_table(put(tmp_path, text, name))
    assert_holds(table.observations, MATRIX)
    assert labels(table.observations) == (["x", "y"], ["a", "b"])
    assert table.notes == ("wide table: 2 rows named by id, 2 columns",)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("id;a;b\nx;1,5;\ny;2,25;1e3\n", "fields are separated by semicolons and decimals by commas"),
        ('id;a;b\nx;"1,5";\ny;"2,25";1e3\n', "fields are separated by semicolons and decimals by commas"),
        ("id;a;b\nx;1.5;\ny;2.25;1e3\n", "fields are separated by semicolons"),
        ("id\ta\tb\nx\t1.5\t\ny\t2.25\t1e3\n", "fields are separated by tabs"),
    ],
)
def test_other_separators_than_commas_in_csv(tmp_path: Path, text: str, note: str) -> None:
    table = read_table(put(tmp_path, text))
    assert_holds(table.observations, MATRIX)
    assert table.notes[0] == note


def test_decimal_commas_without_a_header(tmp_path: Path) -> None:
    """All lines have the same number of commas, but the commas do not separate fields."""
    assert_holds(
        read_table(put(tmp_path, "1,5;2,5;3,5\n4,5;5,5;6,5\n")).observations, [[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]]
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("id,a (m; cm),b\nx,1.5,\ny,2.25,1e3\n", ["a (m; cm)", "b"]),
        ("id,a;m,b\nx;1,1.5,\ny;2,2.25,1e3\n", ["a;m", "b"]),
        ('id,"a;,",b\nx;1,1.5,\ny;2,2.25,1e3\n', ["a;,", "b"]),
    ],
)
def test_semicolons_inside_fields_are_not_separators(tmp_path: Path, text: str, names: list[str]) -> None:
    assert labels(read_table(put(tmp_path, text)).observations)[1] == names


@pytest.mark.parametrize(
    ("encoding", "mark", "note"),
    [
        ("utf-8", b"", None),
        ("utf-8", codecs.BOM_UTF8, None),
        ("latin-1", b"", "table.csv is not UTF-8 and is read as Latin-1"),
        ("utf-16-le", codecs.BOM_UTF16_LE, "table.csv is read as UTF-16"),
    ],
)
def test_encodings(tmp_path: Path, encoding: str, mark: bytes, note: str | None) -> None:
    table = read_table(put(tmp_path, mark + "Straße,größe,b\nÄgir,1.5,\nÖdön,2.25,1e3\n".encode(encoding)))
    assert labels(table.observations) == (["Ägir", "Ödön"], ["größe", "b"])
    assert table.layout.row == "Straße"
    assert len(table.notes) == 1 + (note is not None)
    assert note is None or table.notes[0].endswith(note)


def test_windows_text_is_told_from_latin_1_by_its_dashes_and_quotes(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "id,a,b\nZoë – 3,1.5,\nd’Arc,2.25,1e3\n".encode("cp1252")))
    assert labels(table.observations)[0] == ["Zoë – 3", "d’Arc"]
    assert table.notes[0].endswith("table.csv is not UTF-8 and is read as Windows-1252")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("id,a,b\nx,1,2\ny,oops,3\nz,4,5\n", "line 3 of"),
        ("\n\nid,a,b\n\nx,1,2\n \ny,oops,3\nz,4,5\n", "line 7 of"),
        ('id,a,b\n"x\nx",1,2\ny,oops,3\nz,4,5\n', "line 4 of"),
        ("1,2,3,4\n5,6,7,oops\n8,9,1,2\n3,4,5,6\n", "line 2 of"),
    ],
)
def test_an_invalid_number_is_reported_with_its_line(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(ValueError, match=f"^{place} .*table.csv has 'oops' in the column"):
        read_table(put(tmp_path, text))


def test_columns_with_few_numbers_are_text(tmp_path: Path) -> None:
    """A word in a column of numbers is an error only if most entries are numbers; otherwise the column is text."""
    table = read_table(put(tmp_path, "id,a,b\nx,1,low\ny,2,high\nz,3,7\n"))
    assert table.layout.left_out == ("b",)


def test_booleans_are_text(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "id,a,ok\nTRUE,1,true\nfalse,2,\n"))
    assert labels(table.observations)[0] == ["TRUE", "false"]
    assert table.layout.left_out == ("ok",)
