"""Limits: on what a compressed file unpacks to, on lines, and on memory, which is in proportion to the cells."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manifill.tables import read_pairs, read_table, size_limit, text_file
from manifill.tables.table_layout import Layout
from tests.tables.table_files import put
from tests.tables.test_matrix_files import saved

TABLE = "id,a,b\n" + "".join(f"r{k},{k}.5,\n" for k in range(20_000))
MATRIX = np.where(np.eye(300) == 1.0, 1.0, np.nan)


def _compressed_files(folder: Path) -> list[Path]:
    put(folder, TABLE, "t.csv.gz")
    put(folder, "%%MatrixMarket matrix array real general\n300 300\n" + "1\n" * 90_000, "m.mtx.gz")
    np.savez_compressed(folder / "m.npz", MATRIX)
    pd.DataFrame({f"c{k}": np.zeros(20_000) for k in range(5)}).to_parquet(folder / "t.parquet")
    return [folder / name for name in ("t.csv.gz", "m.mtx.gz", "m.npz", "t.parquet")]


@pytest.mark.parametrize("k", range(4), ids=["csv.gz", "mtx.gz", "npz", "parquet"])
def test_what_unpacks_to_more_than_allowed_is_refused(tmp_path: Path, k: int) -> None:
    path = _compressed_files(tmp_path)[k]
    with pytest.raises(ValueError, match=rf"{path.name} \(.*\) unpacks to more than 97.7 KB; .* pass max_bytes="):
        read_table(path, max_bytes=100_000)
    read_table(path, max_bytes=10_000_000)
    read_table(path)


def test_pairs_are_limited_too(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unpacks to more than"):
        read_pairs(put(tmp_path, "u,i\n" + "1,2\n" * 1000, "p.csv.gz"), Layout("long"), max_bytes=1000)


def test_the_ratio_is_limited_unless_a_size_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a file that is made to exhaust memory, but smaller."""
    monkeypatch.setattr(size_limit, "ALWAYS_UNPACKED", 1000)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"id,a,b\n" + b"x,1,2\n" + b" \n" * 100_000))
    assert path.stat().st_size * size_limit.LARGEST_RATIO < 200_000
    with pytest.raises(ValueError, match=r"t\.csv\.gz \(.*\) unpacks to more than .* KB"):
        read_table(path)
    assert read_table(path, max_bytes=1_000_000).observations.size == 2


def test_a_file_is_not_unpacked_further_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[int] = []
    check = size_limit.SizeLimit.check

    def noted(limit: size_limit.SizeLimit, size: int) -> None:
        unpacked.append(size)
        check(limit, size)

    monkeypatch.setattr(size_limit.SizeLimit, "check", noted)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000))
    with pytest.raises(ValueError, match="unpacks to more than"):
        read_table(path, max_bytes=100_000)
    assert max(unpacked) < 2_000_000


def test_a_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "LONGEST_LINE", 1000)
    with pytest.raises(ValueError, match=r"line 2 of .*t\.csv has more than 1000 bytes of text"):
        read_table(put(tmp_path, "a,b\n" + "1" * 2000 + ",2\n", "t.csv"))


@pytest.mark.parametrize("text", ["id,a,b\nx,1,2\ny,3,\n", "user,item,rating\n1,2,3\n1,3,4\n"])
def test_what_does_not_fit_into_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(size_limit, "_available_memory", lambda: 199)
    with pytest.raises(ValueError, match=r"t\.csv has . cells, which need .* bytes of memory, but 199 bytes are avail"):
        read_table(put(tmp_path, text, "t.csv"))
    monkeypatch.setattr(size_limit, "_available_memory", lambda: 10)
    with pytest.raises(ValueError, match=r"t\.csv has 9 fields, which need 72 bytes of memory"):
        read_table(put(tmp_path, text, "t.csv"))


def test_available_memory_is_known_here() -> None:
    found = size_limit._available_memory()
    assert found is None or 2**20 < found < 2**50


@pytest.mark.parametrize("size", ["1000000000 1000000000 1", "1 999999999999999999 1"])
def test_a_shape_without_cells_is_refused(tmp_path: Path, size: str) -> None:
    text = f"%%MatrixMarket matrix coordinate real general\n{size}\n1 1 5\n"
    with pytest.raises(ValueError, match=r"m\.mtx states a matrix of .* with only 1 observed cell"):
        read_table(put(tmp_path, text, "m.mtx"))


@pytest.mark.parametrize(
    "arrays", [{"rows": [0], "shape": [10**9, 10**9]}, {"rows": [2 * 10**9]}], ids=["shape", "row"]
)
def test_a_shape_without_cells_in_an_archive_is_refused(tmp_path: Path, arrays: dict[str, list[int]]) -> None:
    with pytest.raises(ValueError, match=r"m\.npz states a matrix of .* with only 1 observed cell"):
        read_table(put(tmp_path, saved(cols=[0], values=[1.0], **arrays), "m.npz"))


MEASURE = """
import resource, sys
from manifill.tables import read_table
read_table(sys.argv[1])  # imports what is needed
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
table = read_table(sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, table.observations.size)
"""


def test_memory_is_needed_for_the_cells_not_for_the_text(tmp_path: Path) -> None:
    """37 MB of text with 30,000 cells; read at once, they need several times the size of the text."""
    small = put(tmp_path, "gene,drug,ic50,comment\na,x,1,c\na,y,2,c\nb,x,3,c\n", "small.csv")
    large = tmp_path / "large.csv"
    with large.open("w") as file:
        file.write("gene,drug,ic50,comment\n")
        file.writelines(f'g{k // 100},d{k % 100},{k / 7:.6g},"{k:06} {"text " * 240}"\n' for k in range(30_000))
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(small), str(large)], capture_output=True, text=True, timeout=120, check=True
    )
    kilobytes, cells = map(int, done.stdout.split())
    assert cells == 30_000
    assert kilobytes * 1024 < large.stat().st_size
