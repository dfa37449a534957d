"""A full disk: one sentence, the draws so far are intact, and the run is resumed to the very same draws."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import manifill
from manifill.base.atomic_files import replacing
from manifill.base.errors import DiskFullError
from manifill.posterior import zarr_store
from manifill.report import report_of_run
from manifill.run.folder import RunFolder
from manifill.run.verification import verify_run
from manifill.sampling import chain as chains
from manifill.tables import write_table
from tests.estimators.tables import low_rank_table
from tests.run.runs import files_of, fit
from tests.run.small_disks import change_disk, size_on_disk, small_disk

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

TABLE, DRAWS = low_rank_table(m=60, n=20)[1], 60


@pytest.fixture(scope="module", autouse=True)
def _small_chunks() -> Iterator[None]:
    """Let runs have many small chunks, and save checkpoints often."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zarr_store, "CHUNK_BYTES", 2 * 60 * 2 * 4)
        patch.setattr(chains, "SECONDS_BETWEEN_CHECKPOINTS", 0.05)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "run"
    with pytest.warns(manifill.ConvergenceWarning):
        fit(path, TABLE, draws=DRAWS)
    return path


def draws(path: Path) -> Any:
    return manifill.load(path).posterior_.A[:]


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.05, "try again"), (0.6, "continue with resume=True"), (0.95, "continue with resume=True")],
)
def test_a_fit_is_resumed_once_there_is_space(share: float, said: str, whole: Path, tmp_path: Path) -> None:
    """With very little space no run begins, and the fit is repeated."""
    needed, is_begun = size_on_disk(whole), share > 0.05
    with small_disk(tmp_path / "disk", int(share * needed)) as disk:
        run = RunFolder(disk / "run")
        with pytest.raises(DiskFullError, match=rf"the disk that holds {run.path} is full; free space and {said}\."):
            fit(run.path, TABLE, draws=DRAWS)
        assert run.holds_run() == is_begun
        if is_begun:
            assert verify_run(run.path).damage == ()
            so_far = manifill.load(run.path).posterior_
            assert 0 < so_far.draws * so_far.chains < 2 * DRAWS
            np.testing.assert_array_equal(so_far.A[0], draws(whole)[0, : so_far.draws])
        before = files_of(disk)
        with pytest.raises(DiskFullError):
            fit(run.path, TABLE, draws=DRAWS, resume=is_begun)
        assert before.keys() <= files_of(disk).keys()
        change_disk(disk, f"size={4 * needed}")
        fit(run.path, TABLE, draws=DRAWS, resume=is_begun)
        np.testing.assert_array_equal(draws(run.path), draws(whole))
        assert verify_run(run.path).damage == ()


def test_the_old_run_is_kept_if_there_is_no_space_for_a_new_one(whole: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", size_on_disk(whole) * 2) as disk:
        fit(disk / "run", TABLE, draws=DRAWS)
        before = files_of(disk)
        change_disk(disk, f"size={size_on_disk(disk)}")
        with pytest.raises(DiskFullError, match="free space and try again"):
            fit(disk / "run", TABLE, draws=DRAWS, seed=7, overwrite=True)
        assert files_of(disk) == before


def test_tables_and_reports_do_not_fit(whole: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", size_on_disk(whole) * 2) as disk:
        fit(disk / "run", TABLE, draws=DRAWS)
        change_disk(disk, f"size={size_on_disk(disk) + 40_000}")
        before = files_of(disk)
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(5000, 4)))
        for name in ("table.csv", "table.csv.gz", "table.parquet"):
            with pytest.raises(DiskFullError, match=f"the disk that holds .*{name} is full; free space and try again"):
                write_table(frame, disk / name)
        with pytest.raises(DiskFullError, match=r"report\.html is full"):
            report_of_run(disk / "run")
        assert files_of(disk) == before


def test_the_old_file_is_kept(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 65536) as disk:
        (disk / "file").write_bytes(b"old")
        with pytest.raises(DiskFullError), replacing(disk / "file") as file:
            file.write(bytes(200_000))
        assert files_of(disk) == {disk / "file": b"old"}


def test_a_read_only_run_is_read_and_not_resumed(whole: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", size_on_disk(whole) * 2) as disk:
        fit(disk / "run", TABLE, draws=DRAWS)
        change_disk(disk, "ro")
        np.testing.assert_array_equal(draws(disk / "run"), draws(whole))
        assert verify_run(disk / "run").damage == ()
        for changes in ({"resume": True}, {"overwrite": True}):
            with pytest.raises(ValueError, match=r"run cannot be written to \(Read-only file system\); choose another"):
                fit(disk / "run", TABLE, draws=DRAWS, **changes)


def test_the_command_says_it_in_one_line(tmp_path: Path) -> None:
    """With chains in processes of their own, from which the error has to come back."""
    pd.DataFrame(TABLE).to_csv(tmp_path / "table.csv", index=False)
    options = {
        "--draws": "400",
        "--warmup": "20",
        "--chains": "2",
        "--jobs": "2",
        "--sampler": "factors",
        "--seed": "3",
    }
    command = [sys.executable, "-m", "manifill", "fit", "table.csv", "--wide", "--rank", "2", "--quiet"]
    command += [text for pair in options.items() for text in pair]

    def call(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *more], cwd=tmp_path, capture_output=True, text=True, check=False, env=dict(os.environ)
        )

    with small_disk(tmp_path / "disk", 700_000) as disk:
        full = call("--out", "disk/run")
        assert (full.returncode, full.stdout) == (2, "")
        assert full.stderr == (
            "manifill: the disk that holds disk/run is full; free space and continue with --resume.\n"
        )
        change_disk(disk, "size=5000000")
        assert call("--out", "disk/run", "--resume").returncode in (0, 3)
        assert call("--out", "whole").returncode in (0, 3)
        np.testing.assert_array_equal(draws(disk / "run"), draws(tmp_path / "whole"))
