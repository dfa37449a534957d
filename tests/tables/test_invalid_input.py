"""Every file that cannot be read raises a ValueError of one sentence that names the file."""

import gzip
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from manifill.tables import read_table
from tests.tables.table_files import put
from tests.tables.test_matrix_files import matrix_market, saved

GOOD = "id,a,b\nx,1,2\ny,3,4\n"
RATINGS = "userId,movieId,rating\n1,2,3\n1,3,4\n2,2,5\n"


def parquet(columns: dict[str, Any]) -> bytes:
    file = BytesIO()
    pd.DataFrame(columns).to_parquet(file)
    return file.getvalue()


FILES = {
    "empty": ("t.csv", "", "t.csv is empty"),
    "blank lines only": ("t.csv", "\n  \n\n", "t.csv is empty"),
    "empty and compressed": ("t.csv.gz", "", "t.csv.gz is empty"),
    "header only": ("t.csv", "a,b,c\n", "t.csv has a header line and nothing below it"),
    "one column": ("t.csv", "a\n1\n2\n", "t.csv has a single column, 'a'; separate fields"),
    "separated by blanks": ("t.txt", "1 2 3\n4 5 6\n", "t.txt has a single column, '1 2 3'"),
    "commas in a tsv": ("t.tsv", "a,b\n1,2\n", "t.tsv has a single column, 'a,b'"),
    "no numbers": ("t.csv", "a,b\nx,y\nx,z\n", "t.csv contains no numbers to complete; its columns are a and b"),
    "nothing observed": ("t.csv", "id,a\nx,\ny,NA\n", "t.csv contains no numbers to complete"),
    "no ratings": ("t.csv", "user,item,rating\n1,2,\n", "t.csv has no numbers in the column 'rating'"),
    "names twice": ("t.csv", "a,b,a,a\n1,2,3,4\n", "t.csv has 3 columns named a; give each"),
    "no names, twice": ("t.csv", "a,,\n1,2,3\n", "t.csv has 2 columns named the unnamed column"),
    "ids twice": (
        "t.csv",
        "id,a\n1,2\n2,3\n1,4\n",
        "line 2 and line 4 of .*t.csv both have the row label 1 in the column id",
    ),
    "text ids twice": ("t.csv", "name,a\nx,2\nx,3\n", "line 2 and line 3 of .*t.csv both have the row label x"),
    "index twice": (
        "t.csv",
        ",a\nx,2\nx,3\n",
        "line 2 and line 3 of .*t.csv both have the row label x in the column the unn",
    ),
    "no id": ("t.csv", "id,a\n1,2\n,3\n", "line 3 of .*t.csv has the missing entry '' in the column 'id'"),
    "no label": (
        "t.csv",
        "user,item,rating\n1,2,3\n1,NA,3\n",
        "line 3 of .*t.csv has the missing entry 'NA' in the column 'item'",
    ),
    "infinite": ("t.csv", "id,a\nx,1\ny,-inf\n", "line 3 of .*t.csv has '-inf' in the column 'a'; write finite"),
    "too large": ("t.csv", "id,a\nx,1\ny,1e999\nz,2\n", "line 3 of .*t.csv has '1e999' in the column 'a'"),
    "a word": ("t.csv", "id,a\nx,1\ny,n.d.\nz,2\n", "line 3 of .*t.csv has 'n.d.' in the column 'a'"),
    "a word for a rating": ("t.csv", "user,item,rating\n1,2,3\n1,3,good\n2,2,3\n", "line 3 of .*t.csv has 'good'"),
    "thousands separators": (
        "t.csv",
        'id,a\nx,"1,234.5"\ny,"2,234.5"\n',
        "line 2 .*'1,234.5' .* without thousands separators",
    ),
    "European thousands separators": (
        "t.csv",
        "id;a;b\nx;1.234,5;1,5\ny;1,5;1,5\n",
        "line 2 .*'1.234,5' .* like 1234,5",
    ),
    "decimal commas": ("t.tsv", "id\ta\nx\t1,5\ny\t2,5\n", "line 2 .*t.tsv has '1,5' .* like 1234.5"),
    "points and commas as decimals": ("t.csv", "id;a\nx;1,5\ny;2,5\nz;3.5\n", "line 4 of .*t.csv has '3.5'"),
    "per cent": ("t.csv", "id,a\nx,12%\ny,13 %\n", "line 2 of .*t.csv has '12%'"),
    "short line": ("t.csv", "a,b,c\n1,2,3\n4,5\n", "line 3 of .*t.csv has 2 fields, but line 2 has 3"),
    "long line": ("t.csv", "a,b,c\n1,2,3\n4,5,6,7\n", "line 3 of .*t.csv has 4 fields, but line 2 has 3"),
    "short quoted line": ("t.csv", 'a,b,c\n"1",2,3\n4,5\n', "line 3 of .*t.csv has 2 fields, but line 2 has 3"),
    "long header": ("t.csv", "a,b,c\n1,2\n3,4\n", "line 2 of .*t.csv has 2 fields, but line 1 has 3"),
    "separators at the end": ("t.csv", "a,b\n1,2,\n3,4,\n", "t.csv has 3 fields per line, but 2 in the first"),
    "short first line": ("t.csv", "1,2\n3,4,5\n6,7,8\n", "t.csv has 3 fields per line, but 2 in the first"),
    "quotes": ("t.csv", 'a,b\n"1,2\n3,4\n', "t.csv has a quotation mark that is not closed"),
    "quotes in a later field": (
        "t.csv",
        'name,a,b\nx,1,2\ny,"3,4\nz,5,6\n',
        "line 3 of .*t.csv has a quotation mark that is not closed",
    ),
    "late quotes": ("t.csv", "a,b\n" + "1,2\n" * 99 + '"3,4\n', "t.csv has a quotation mark that is not closed"),
    "a long field among quotes": (
        "t.csv",
        'a,b\n"1",2\n' + "x" * 140_000 + ",2\n",
        "line 3 of .*t.csv has a field of more than 131072 characters; shorten it",
    ),
    "a long field in the first lines": (
        "t.csv",
        '"a",b\n' + "x" * 140_000 + ",2\n",
        "line 2 of .*t.csv has a field of more than 131072 characters",
    ),
    "a quotation mark that is never closed": (
        "t.csv",
        'a,b\n1,2\n"3,4\n' + "1,2\n" * 50_000,
        "line 3 of .*t.csv has a quotation mark that is not closed within 131072 characters; close it",
    ),
    "a long word": (
        "t.csv",
        "id,a\nx,1\ny,2\nz," + "w" * 5000 + "\n",
        "line 4 of .*t.csv has 'w{60}…' in the column 'a'",
    ),
    "nothing but quotes": ("t.csv", '""\n""\n', "t.csv is empty"),
    "a line of quotes": ("t.csv", 'a,b\n1,2\n""\n3,4\n', "t.csv has a line of nothing but quotation marks"),
    "data instead of a header": (
        "t.csv",
        "x,4.5,3,3\ny,3,2,1\n",
        r"first line of .*t.csv \(x, 4.5, 3 and 3\) looks like data",
    ),
    "a cell instead of a header": (
        "t.csv",
        "x,p,4\nx,q,3\ny,p,2\ny,q,1\nx,r,1\n",
        r"t.csv \(x, p and 4\) looks like data",
    ),
    "zero bytes": ("t.csv", b"a,b\n\0,1\n", "t.csv is not a text file"),
    "no values": ("t.csv", "userId,movieId,tag\n1,2,x\n1,3,y\n2,2,z\n", "t.csv looks like .* no column of numbers"),
    "ambiguous values": (
        "t.csv",
        "user,item,a,b\n1,2,3,4\n1,3,4,5\n2,2,5,6\n",
        "t.csv looks like a long table, with rows in user and columns in item; choose value among a and b",
    ),
    "unsupported extension": ("t.xlsx", GOOD, "t.xlsx has an unsupported extension; it must be one of .csv, .tsv"),
    "no extension": ("table", GOOD, "table has an unsupported extension"),
    "compressed npz": ("m.npz.gz", b"x", "m.npz.gz has an unsupported extension.* also with .gz"),
    "invalid parquet": ("t.parquet", b"junk", "t.parquet is damaged or not a Parquet file"),
    "truncated parquet": ("t.parquet", parquet({"a": [1.0]})[:99], "t.parquet is damaged or not a Parquet file"),
    "parquet without rows": ("t.parquet", parquet({"a": []}), "t.parquet is an empty table"),
    "text that is not UTF-8 in parquet": (
        "t.parquet",
        parquet({"id": ["label one", "two"], "a": [1.0, 2.0]}).replace(b"label one", b"label \xff\xfe\xfd"),
        "t.parquet is damaged or not a Parquet file .*UTF8",
    ),
    "infinite in parquet": ("t.parquet", parquet({"a": [1.0, np.inf]}), "row 2 of .*t.parquet has 'inf'"),
    "invalid Matrix Market": ("m.mtx", b"junk", "m.mtx is not a Matrix Market file: its first line is not like"),
    "truncated Matrix Market": (
        "m.mtx",
        matrix_market(scipy.sparse.eye_array(9))[:-30],
        "m.mtx contains 4 of the 9 cells that its header states; create or download it again",
    ),
    "truncated number": (
        "m.mtx",
        matrix_market(np.array([[1.5, 2.5e-9]]))[:-2],
        "line 5 of .*m.mtx should hold one number, not '2.5E-'",
    ),
    "truncated line": (
        "m.mtx",
        matrix_market(scipy.sparse.eye_array(9))[:-3],
        "line 12 of .*m.mtx should hold 3 numbers, not '9 9'",
    ),
    "two values per line": (
        "m.mtx",
        b"%%MatrixMarket matrix array real general\n2 1\n1 2\n3\n",
        "line 3 of .*m.mtx should hold one number, not '1 2'",
    ),
    "index outside the shape": (
        "m.mtx",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 5\n",
        "line 3 of .*m.mtx has the column 3, but the matrix has the columns 1 to 2",
    ),
    "index below 1": (
        "m.mtx",
        b"%%MatrixMarket matrix coordinate real general\n% a comment\n2 2 2\n1 1 5\n0 1 5\n",
        "line 5 of .*m.mtx has the row 0, but the matrix has the rows 1 to 2",
    ),
    "NaN in a sparse matrix": (
        "m.mtx",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n",
        "line 3 of .*m.mtx has the value nan; leave unobserved cells out",
    ),
    "infinite in a dense matrix": (
        "m.mtx",
        b"%%MatrixMarket matrix array real general\n1 2\n1\n-inf\n",
        "line 4 of .*m.mtx has the value -inf",
    ),
    "no cells": ("m.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 0\n", "m.mtx contains no numbers"),
    "too many numbers": (
        "m.mtx",
        b"%%MatrixMarket matrix coordinate real general\n9 9 1\n1 1 3 9\n",
        "line 3 of .*m.mtx should hold 3 numbers, not '1 1 3 9'",
    ),
    "no sizes": ("m.mtx", b"%%MatrixMarket matrix array real general\nx y\n", "line 2 of .*m.mtx should hold the num"),
    "invalid pointers": (
        "m.npz",
        saved(format=np.array(b"csc"), shape=[2, 3], data=[0.0, 1.0, 2.0], indices=[0, 1, 0], indptr=[0, 2**40, 3, 0]),
        "m.npz cannot be read as a matrix: its indptr is not valid",
    ),
    "pattern": ("m.mtx", b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n", "m.mtx .* 'pattern'"),
    "complex Matrix Market": (
        "m.mtx",
        matrix_market(np.array([[1j]])),
        "line 1 of .*m.mtx has 'complex', but only real",
    ),
    "dense and symmetric": ("m.mtx", matrix_market(np.eye(2)), "m.mtx .* write it with symmetry='general'"),
    "too few cells": (
        "m.mtx",
        b"%%MatrixMarket matrix array real general\n9 99999999999999\n1\n",
        "m.mtx contains 1 of the 899999999999991 cells",
    ),
    "invalid npz": ("m.npz", b"junk", "m.npz .* damaged or not an npz file"),
    "truncated npz": ("m.npz", saved(np.eye(3))[:-30], "m.npz .* damaged or not an npz file"),
    "checksum error": ("m.npz", saved(np.eye(30)).replace(b"\0\0\xf0?", b"\1\1\xf0?"), "m.npz cannot be read .* CRC"),
    "other arrays": ("m.npz", saved(a=[1], b=[2]), "m.npz .* it contains a and b; give rows, cols and values"),
    "a vector": ("m.npz", saved(np.ones(3)), r"m.npz cannot be read as a matrix: .* \(3,\)"),
    "complex array": ("m.npz", saved(np.array([[1j]])), "m.npz cannot be read .* arr_0 contains complex numbers"),
    "NaN as a value": ("m.npz", saved(rows=[0], cols=[0], values=[np.nan]), r"m.npz .* values\[0\] is nan"),
    "shape with one number": (
        "m.npz",
        saved(rows=[0], cols=[0], values=[1.0], shape=3),
        "m.npz .* shape must be a pair",
    ),
    "incomplete sparse matrix": (
        "m.npz",
        saved(format=np.array(b"csr"), data=[1.0]),
        "m.npz cannot be read as a matrix",
    ),
}


@pytest.mark.parametrize(("name", "content", "message"), FILES.values(), ids=FILES.keys())
def test_invalid_files(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read_table(put(tmp_path, content, name))
    assert caught.type is ValueError
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


ARGUMENTS = {
    "unknown row": (
        {"row": "user"},
        r"t.csv has no column 'user' \(did you mean 'userId'\?\); its columns are userId, m",
    ),
    "unknown id": ({"id_column": "xyz"}, "t.csv has no column 'xyz'; its columns are userId, movieId and rating"),
    "one column twice": ({"row": "userId", "col": "userId"}, "must be three different columns, not userId and userId"),
    "wide and long": ({"wide": True, "value": "rating"}, "row, col and value are for a long table"),
    "id of a long table": ({"wide": False, "id_column": "userId"}, "and id_column for a wide one"),
    "duplicates": ({"duplicates": "sum"}, "duplicates must be 'error' or 'average', not 'sum'"),
    "id twice": ({"id_column": "userId"}, "line 2 and line 3 of .*t.csv both have the row label 1"),
}


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS.values(), ids=ARGUMENTS.keys())
def test_invalid_arguments(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_table(put(tmp_path, RATINGS, "t.csv"), **arguments)


def test_a_long_table_that_cannot_be_inferred(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"the col of the long table .*t.csv cannot be inferred; .* a and b"):
        read_table(put(tmp_path, "a,b\n1.5,2.5\n", "t.csv"), row="a")


@pytest.mark.parametrize("argument", ["wide", "row", "col", "value", "id_column"])
def test_names_do_not_apply_to_matrices(tmp_path: Path, argument: str) -> None:
    names: dict[str, Any] = {argument: True if argument == "wide" else "a"}
    with pytest.raises(ValueError, match=f"{argument}(=True)? does not apply to .*m.npz"):
        read_table(put(tmp_path, saved(np.eye(2)), "m.npz"), **names)


def test_invalid_paths(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no file .*none.csv; check"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="is a folder; give a file in it"):
        read_table(str(tmp_path))


@pytest.mark.parametrize("cut", [5, 12, 25])
def test_a_truncated_compressed_file(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(RATINGS.encode())[:-cut])
    with pytest.raises(ValueError, match=r"t.csv.gz is damaged or not compressed by gzip"):
        read_table(path)


def test_a_file_that_is_not_compressed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_text(GOOD)
    with pytest.raises(ValueError, match=r"t.csv.gz is damaged or not compressed by gzip"):
        read_table(path)
