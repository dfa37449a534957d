"""DataFrames are written completely or not at all."""

import stat
import sys
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
import pytest

from manifill.base import progress
from manifill.tables import read_table, write_table
from tests.progress_recorder import Recorder
from tests.tables.table_files import assert_holds, labels

FRAME = pd.DataFrame({"name": ["Ägir", "007"], "x": [0.1, np.nan], 7: [1 / 3, -1e-300]})
NAMES = ["t.csv", "t.csv.gz", "t.tsv", "t.parquet"]


class Unwritable(pd.DataFrame):  # type: ignore[misc] # has no types
    """A DataFrame whose writing fails halfway, also if it is written in pieces."""

    @property
    def _constructor(self) -> type["Unwritable"]:
        return Unwritable

    def to_csv(self, file: BinaryIO, **_: object) -> None:
        file.write(b"half")
        raise RuntimeError("power cut")


@pytest.mark.parametrize("name", NAMES)
def test_a_written_table_is_read_exactly(tmp_path: Path, name: str) -> None:
    """Without the index."""
    write_table(FRAME, tmp_path / name)
    table = read_table(tmp_path / name)
    assert_holds(table.observations, [[0.1, 1 / 3], [np.nan, -1e-300]])
    assert labels(table.observations) == (["Ägir", "007"], ["x", "7"])
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_equal_frames_make_equal_files(tmp_path: Path, name: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder in ("a", "b"):
        write_table(FRAME, tmp_path / folder / name)
    assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_compressed_file_contains_no_time(tmp_path: Path) -> None:
    write_table(FRAME, tmp_path / "t.csv.gz")
    assert (tmp_path / "t.csv.gz").read_bytes()[4:8] == b"\0\0\0\0"


def test_an_old_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old" * 1000)
    write_table(FRAME, str(path))
    assert path.read_text().startswith("name,x,7\nÄgir,0.1,0.333")


def test_the_file_has_default_permissions(tmp_path: Path) -> None:
    """A temporary file of the standard library could be read by its owner only."""
    (tmp_path / "other").touch()
    write_table(FRAME, tmp_path / "t.csv")
    assert stat.S_IMODE((tmp_path / "t.csv").stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("old")
    with pytest.raises(RuntimeError, match="power cut"):
        write_table(Unwritable(FRAME), tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.parquet.gz", "t.gz"])
def test_unsupported_extensions(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} has an unsupported extension; .* .csv, .csv.gz, .tsv and .parquet"):
        write_table(FRAME, tmp_path / name)


def test_folders_are_not_created_or_overwritten(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"t\.csv cannot be written because there is no folder .*none"):
        write_table(FRAME, tmp_path / "none" / "t.csv")
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(ValueError, match=r"t\.csv is a folder; choose another name"):
        write_table(FRAME, tmp_path / "t.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_without_pyarrow_the_message_explains_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    write_table(FRAME, path)

    def absent(*_: object, **__: object) -> None:
        raise ImportError("no pyarrow")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", absent)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"needs pyarrow; install it with pip install 'manifill\[parquet\]'"):
        write_table(FRAME, path)
    with pytest.raises(ValueError, match=r"t\.parquet needs pyarrow"):
        read_table(path)


def test_a_table_is_written_in_pieces_that_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manifill.tables.table_writer.CELLS_PER_PIECE", 2 * FRAME.shape[1])
    recorder = Recorder()
    with progress.listening(recorder):
        write_table(FRAME, tmp_path / "pieces.csv")
    monkeypatch.undo()
    write_table(FRAME, tmp_path / "whole.csv")
    assert (tmp_path / "pieces.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    phase = recorder.phase("writing the table")
    assert phase.total == len(FRAME) == phase.counts[-1]
    assert len(phase.counts) == -(-len(FRAME) // 2)


def test_an_empty_table_has_a_header(tmp_path: Path) -> None:
    write_table(FRAME.iloc[:0], tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "name,x,7\n"
