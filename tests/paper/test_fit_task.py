"""Fits that are interrupted, resumed or damaged."""

import shutil
from pathlib import Path

import pytest

from manifill.base.atomic_files import locked
from manifill.paper.fit_task import Fit
from manifill.paper.protocol import Size


def test_the_fraction_done_follows_the_checkpoints(tmp_path: Path) -> None:
    fit = Fit("case-1", 0.4, "ABT", "factors", 0, Size(2, 10, 30, 1))
    assert fit.fraction_done(tmp_path) == 0.0
    fit.run(tmp_path)
    assert fit.fraction_done(tmp_path) == 1.0
    (tmp_path / fit.key / "checkpoints" / "chain-1.npz").write_bytes(b"PK")
    assert fit.fraction_done(tmp_path) == 0.5


def test_a_fit_of_another_process_is_not_touched(tmp_path: Path) -> None:
    fit = Fit("case-1", 0.4, "ABT", "factors", 0, Size(2, 5, 10, 1))
    fit.run(tmp_path)
    draws, lock = tmp_path / fit.key / "draws.zarr", tmp_path / fit.key / "checkpoints" / "run.lock"
    with locked(lock, wait=False), pytest.raises(ValueError, match="another process is writing"):
        fit.run(tmp_path)
    assert draws.exists()


def test_an_interrupted_fit_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an interruption before the summary, the second attempt finds the draws and gives the same metrics."""
    fit = Fit("case-1", 0.4, "ABT", "factors", 0, Size(2, 10, 20, 1))
    whole = fit.run(tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr("manifill.paper.fit_task.fit_summary", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            fit.run(tmp_path / "cut")
    assert (tmp_path / "cut" / fit.key / "draws.zarr").exists()
    assert fit.run(tmp_path / "cut").metrics["deviations"] == whole.metrics["deviations"]


@pytest.mark.parametrize("lost", ["checkpoints", "draws.zarr/posterior", "draws.zarr/zarr.json"])
def test_a_fit_that_cannot_be_resumed_is_started_again(lost: str, tmp_path: Path) -> None:
    fit = Fit("case-1", 0.4, "ABT", "factors", 0, Size(2, 5, 10, 1))
    whole, gone = fit.run(tmp_path), tmp_path / fit.key / lost
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    assert fit.run(tmp_path).metrics["deviations"] == whole.metrics["deviations"]
