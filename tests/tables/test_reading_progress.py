"""How far the reading of a table has come is reported, in bytes on disk over all passes, for every format."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from manifill.base import progress
from manifill.tables import Layout, read_pairs, read_table
from tests.progress_recorder import Phase, Recorder

ROWS, COLUMNS, CELLS = 4000, 50, 100_000


@pytest.fixture(scope="module")
def matrix() -> scipy.sparse.coo_array:
    """Return a matrix with half of its cells observed."""
    rng = np.random.default_rng(0)
    cells = np.sort(rng.choice(ROWS * COLUMNS, size=CELLS, replace=False))
    return scipy.sparse.coo_array((rng.normal(size=CELLS), np.divmod(cells, COLUMNS)), (ROWS, COLUMNS))


def long_frame(matrix: scipy.sparse.coo_array) -> pd.DataFrame:
    rows = np.char.add("r", matrix.row.astype(str))
    return pd.DataFrame({"row": rows, "column": matrix.col, "value": matrix.data})


def wide_frame(matrix: scipy.sparse.coo_array) -> pd.DataFrame:
    dense = np.full(matrix.shape, np.nan)
    dense[matrix.row, matrix.col] = matrix.data
    return pd.DataFrame(dense, columns=[f"c{k}" for k in range(COLUMNS)])


def written(matrix: scipy.sparse.coo_array, path: Path) -> Path:
    """Write the matrix in the format that the name of the file states."""
    kind, extension = path.name.split(".", 1)
    frame = long_frame(matrix) if kind == "long" else wide_frame(matrix)
    if extension in ("csv", "csv.gz"):
        frame.to_csv(path, index=kind == "labelled", index_label="id")
    elif extension == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif extension == "parquet":
        frame.to_parquet(path, index=False)
    elif extension == "mtx":
        scipy.io.mmwrite(path, matrix)
    elif kind == "sparse":
        scipy.sparse.save_npz(path, matrix)
    elif kind == "triples":
        np.savez(path, rows=matrix.row, cols=matrix.col, values=matrix.data)
    else:
        np.savez_compressed(path, matrix=frame.to_numpy())
    return path


def check_count(phase: Phase) -> None:
    """Check that a count begins at zero, rises in small steps and ends at the total."""
    assert all(earlier <= later for earlier, later in pairwise([0.0, *phase.counts]))
    assert phase.counts[-1] == pytest.approx(phase.total)
    assert phase.largest_step < 0.15


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        ("long.csv", 4),
        ("long.csv.gz", 4),
        ("long.tsv", 4),
        ("wide.csv", 3),
        ("labelled.csv", 4),
        ("long.parquet", 3),
        ("stored.mtx", 1),
        ("sparse.npz", 2),
        ("triples.npz", 1),
        ("dense.npz", 1),
    ],
)
def test_the_count_reaches_the_total_in_small_steps(
    matrix: scipy.sparse.coo_array, tmp_path: Path, name: str, passes: int
) -> None:
    path, recorder = written(matrix, tmp_path / name), Recorder()
    with progress.listening(recorder):
        assert read_table(path).observations.size == CELLS
    phase = recorder.phase(f"reading {name}")
    assert phase.unit == "MB"
    assert phase.total == pytest.approx(passes * path.stat().st_size / 1e6)
    assert phase.guess > 0.0
    check_count(phase)
    check_count_of_sorting(recorder)


def check_count_of_sorting(recorder: Recorder) -> None:
    sorting = recorder.phase("sorting cells")
    assert sorting.counts == [1.0, 2.0, 3.0, 4.0, sorting.total]


def test_parquet_without_labels_is_read_without_their_pass(matrix: scipy.sparse.coo_array, tmp_path: Path) -> None:
    path, recorder = written(matrix, tmp_path / "wide.parquet"), Recorder()
    with progress.listening(recorder):
        read_table(path)
    phase = recorder.phase("reading wide.parquet")
    assert phase.counts[-1] == pytest.approx(phase.total) == pytest.approx(2 * path.stat().st_size / 1e6)
    assert len(set(phase.counts)) > COLUMNS, "each column is a step"


def test_passes_that_were_not_expected_extend_the_total(tmp_path: Path) -> None:
    """Decimal commas are searched for in a pass of their own."""
    path, recorder = tmp_path / "table.csv", Recorder()
    path.write_text("row;column;value\n" + "".join(f"r{k // 7};c{k % 7};{k}\n" for k in range(50_000)))
    with progress.listening(recorder):
        read_table(path)
    phase = recorder.phase("reading table.csv")
    assert phase.total == pytest.approx(5 * path.stat().st_size / 1e6)
    check_count(phase)


def test_pairs_are_counted_too(matrix: scipy.sparse.coo_array, tmp_path: Path) -> None:
    path, recorder = written(matrix, tmp_path / "long.csv"), Recorder()
    with progress.listening(recorder):
        read_pairs(path, Layout("long", row="row", col="column", row_labels="text"))
    check_count(recorder.phase("reading long.csv"))


def test_a_first_look_at_a_small_file_is_not_a_pass(tmp_path: Path) -> None:
    path, recorder = tmp_path / "table.csv", Recorder()
    path.write_text("a,b,c\n1,2,\n,3,4\n5,,6\n")
    with progress.listening(recorder):
        read_table(path, wide=True)
    phase = recorder.phase("reading table.csv")
    assert phase.counts[-1] == pytest.approx(phase.total) == pytest.approx(3 * path.stat().st_size / 1e6)


def test_what_follows_counts_in_the_estimate(tmp_path: Path) -> None:
    path, recorder = tmp_path / "table.csv", Recorder()
    path.write_text("a,b,c\n1,2,\n,3,4\n5,,6\n")
    with progress.listening(recorder), progress.followed_by(100.0):
        read_table(path, wide=True)
    assert [phase.then for phase in recorder.phases] == [100.0] * len(recorder.phases)
