"""Codes for missing entries: named by the caller, or pointed out."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Generator, Matrix
from manifill.problem import from_array
from manifill.tables import read_table
from manifill.tables.suspected_codes import suspicion_notes
from tests.tables.table_files import assert_holds, put
from tests.tables.test_matrix_files import matrix_market, saved

WRITTEN = {
    "as given": "-999",
    "as a decimal": "-999.0",
    "with an exponent": "-9.99e2",
    "as text": "-",
    "known besides": "NA",
}


@pytest.mark.parametrize("code", WRITTEN.values(), ids=WRITTEN.keys())
def test_codes_are_missing_however_they_are_written(tmp_path: Path, code: str) -> None:
    path = put(tmp_path, f"id,a,b\nx,1.5,{code}\ny,{code},3\nz,4,5\n")
    table = read_table(path, missing=[-999, "-"])
    assert_holds(table.observations, [[1.5, np.nan], [np.nan, 3.0], [4.0, 5.0]])
    assert table.layout.missing == ("-999", "-")


@pytest.mark.parametrize("code", [-999, -999.0, "-999", "-999.0"])
def test_a_number_is_given_as_a_number_or_as_text(tmp_path: Path, code: str | float) -> None:
    table = read_table(put(tmp_path, "user,item,rating\n1,2,-999\n1,3,4\n2,2,-999.00\n"), missing=[code])
    assert_holds(table.observations, [[np.nan, 4.0], [np.nan, np.nan]])


def test_codes_with_decimal_commas(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "id;a;b\nx;1,5;-999,0\ny;oops;2,5\nz;3,5;4,5\n"), missing=["-999", "oops"])
    assert_holds(table.observations, [[1.5, np.nan], [np.nan, 2.5], [3.5, 4.5]])


def _parquet(columns: dict[str, Any]) -> bytes:
    file = BytesIO()
    pd.DataFrame(columns).to_parquet(file)
    return file.getvalue()


CODED = np.array([[1.0, -9.0], [-9.0, 2.0], [3.0, 4.0]])
FILES = {
    "parquet": ("t.parquet", _parquet({"a": [1, -9, 3], "b": [-9.0, 2.0, 4.0]})),
    "text in parquet": ("t.parquet", _parquet({"a": ["1", "-9", "3"], "b": ["-9.0", "2", "4"]})),
    "npz": ("m.npz", saved(CODED)),
    "Matrix Market": ("m.mtx", matrix_market(CODED)),
}


@pytest.mark.parametrize(("name", "data"), FILES.values(), ids=FILES.keys())
def test_codes_in_other_formats(tmp_path: Path, name: str, data: bytes) -> None:
    observations = read_table(put(tmp_path, data, name), missing=[-9]).observations
    assert_holds(observations, [[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0]])


def test_nothing_but_codes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"m\.npz contains nothing but codes for missing"):
        read_table(put(tmp_path, saved(np.full((2, 2), -9.0)), "m.npz"), missing=[-9])


def test_codes_are_a_list(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"missing is a list of codes such as \['-999'\], not the text '-999'"):
        read_table(put(tmp_path, "id,a\nx,1\n"), missing="-999")


def _uniform(rng: Generator) -> Matrix:
    return rng.uniform(0.0, 10.0, (50, 20))


def _with(matrix: Matrix, rng: Generator, code: float, share: float = 0.05) -> Matrix:
    return np.where(rng.random(matrix.shape) < share, code, matrix)


SUSPECT = {
    "-999 among 0 to 10": (lambda rng: _with(_uniform(rng), rng, -999.0), [-999]),
    "two codes": (lambda rng: _with(_with(_uniform(rng), rng, -999.0, 0.1), rng, -99.0), [-999, -99]),
    "columns in different units": (lambda rng: _with(_uniform(rng) * 10.0 ** np.arange(20), rng, -99.0), [-99]),
    "-1 among ratings": (lambda rng: _with(rng.integers(1, 6, (50, 20)), rng, -1.0), [-1]),
    "-9 among counts": (lambda rng: _with(rng.poisson(20.0, (50, 20)), rng, -9.0), [-9]),
    "999 among ages": (lambda rng: _with(rng.integers(18, 90, (50, 3)), rng, 999.0), [999]),
    "a fill value": (lambda rng: _with(rng.normal(size=(50, 20)), rng, 1e20), [1e20]),
    "two of a hundred": (
        lambda _: np.where(np.isin(np.arange(100.0), (3, 50)), -999.0, np.arange(100.0))[:, None],
        [-999],
    ),
}


@pytest.mark.parametrize(("make", "codes"), SUSPECT.values(), ids=SUSPECT.keys())
def test_codes_are_pointed_out(make: Any, codes: list[float]) -> None:
    (note,) = suspicion_notes(from_array(make(np.random.default_rng(0))))
    assert isinstance(note, Wording)
    (argument,) = (part for part in note.parts if isinstance(part, Argument))
    assert (argument.name, sorted(argument.value)) == ("missing", sorted(codes))
    assert "apart from all other values" in note


INNOCENT = {
    "ratings": lambda rng: rng.integers(1, 6, (50, 20)),
    "half stars": lambda rng: rng.integers(1, 11, (50, 20)) / 2.0,
    "counts with a maximum": lambda rng: np.minimum(rng.poisson(50.0, (50, 20)), 60),
    "rare counts": lambda rng: rng.poisson(0.3, (50, 20)),
    "zero-inflated": lambda rng: np.where(rng.random((50, 20)) < 0.7, 0.0, rng.normal(100.0, 1.0, (50, 20))),
    "a clipped sensor": lambda rng: np.clip(rng.normal(500.0, 400.0, (50, 20)), 0.0, 999.0),
    "a sensor clipped at both ends": lambda rng: np.clip(rng.normal(0.0, 1.0, (50, 20)), -1.0, 1.0),
    "heavy tails": lambda rng: np.floor(rng.pareto(1.0, (500, 200))),
    "few heavy-tailed counts per column": lambda rng: np.where(
        rng.random((300, 2000)) < 0.95, np.nan, np.floor(rng.pareto(0.7, (300, 2000)))
    ),
    "one outlier": lambda _: np.where(np.arange(100.0) == 3.0, -999.0, np.arange(100.0))[:, None],
    "votes": lambda rng: rng.integers(-1, 2, (50, 20)),
    "differences of counts": lambda rng: rng.poisson(2.0, (50, 20)) - 1.0,
    "temperatures": lambda rng: rng.integers(-20, 35, (50, 20)),
    "percentages": lambda rng: rng.integers(0, 101, (50, 20)),
    "logarithms": lambda rng: rng.normal(size=(50, 20)) * 3.0,
    "two clusters": lambda rng: np.where(
        rng.random((50, 20)) < 0.5, rng.normal(size=(50, 20)), 500.0 + rng.random((50, 20))
    ),
    "binary": lambda rng: rng.integers(0, 2, (50, 20)),
    "constant": lambda _: np.ones((50, 20)),
    "the largest numbers": lambda rng: np.where(rng.random((50, 20)) < 0.1, 1.7e308, -1.7e308 * rng.random((50, 20))),
}


@pytest.mark.parametrize("make", INNOCENT.values(), ids=INNOCENT.keys())
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ordinary_values_are_not_suspected(make: Any, seed: int) -> None:
    assert suspicion_notes(from_array(make(np.random.default_rng(seed)))) == []


def test_a_suspected_code_is_among_the_notes(tmp_path: Path) -> None:
    lines = "".join(f"r{k},{k}.5,{-999 if k % 3 else k}\n" for k in range(30))
    table = read_table(put(tmp_path, f"id,a,b\n{lines}"))
    assert (
        table.notes[-1] == "-999 (20 times) lies apart from all other values; if it means missing, pass missing=[-999]"
    )
    assert len(read_table(put(tmp_path, f"id,a,b\n{lines}"), missing=[-999]).notes) == 1
