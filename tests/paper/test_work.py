"""Tasks are done once, and what is done is kept."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from manifill.files import locked
from manifill.paper.fits import Fit
from manifill.paper.progress import Tally
from manifill.paper.protocol import Size
from manifill.paper.results import Result, load_result, save_result
from manifill.paper.work import run_tasks


@dataclass(frozen=True)
class Counted:
    """A task that leaves a mark whenever it runs, and fails while ``trap`` is there."""

    key: str
    marks: Path
    cost: float = 1.0

    def share_done(self, scratch: Path) -> float:
        return 0.25 if (scratch / self.key).exists() else 0.0

    def run(self, scratch: Path) -> Result:
        with (self.marks / self.key).open("a") as file:
            file.write("x")
        if (self.marks / f"trap-{self.key}").exists():
            raise KeyboardInterrupt
        return Result({"name": self.key}, {"array": np.arange(3)})


def test_what_was_finished_is_not_done_again(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    tasks = [Counted("a", marks, 3.0), Counted("b", marks, 2.0), Counted("c", marks, 1.0)]
    (marks / "trap-b").touch()
    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks, tmp_path / "tasks", jobs=1, quiet=True)
    (marks / "trap-b").unlink()
    results = run_tasks(tasks, tmp_path / "tasks", jobs=1, quiet=True)
    assert {key: result.figures["name"] for key, result in results.items()} == {"a": "a", "b": "b", "c": "c"}
    assert [(marks / key).read_text() for key in "abc"] == ["x", "xx", "x"]


def test_lines_tell_how_far_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_tasks([Counted("a", tmp_path)], tmp_path / "tasks", jobs=1, quiet=False)
    assert "1 of 1 done, about 0 min left" in capsys.readouterr().err
    run_tasks([Counted("a", tmp_path), Counted("b", tmp_path)], tmp_path / "tasks", jobs=1, quiet=False)
    assert "1 to run, the longest first; 1 more are there already" in capsys.readouterr().err


def test_a_tally_counts_what_is_under_way(tmp_path: Path) -> None:
    long, short = Counted("long", tmp_path, 8.0), Counted("short", tmp_path, 2.0)
    tally = Tally([long, short], tmp_path)
    assert tally.look() == (0.0, [])
    (tmp_path / "long").mkdir()
    assert tally.look() == (2.0, ["long 25%"])
    tally.finish(short)
    assert (tally.count, tally.look()) == (1, (4.0, ["long 25%"]))


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_a_fit_tells_how_much_of_it_is_done(tmp_path: Path) -> None:
    fit = Fit("case-1", 0.4, "ABT", "factors", 0, Size(2, 10, 30, 1))
    assert fit.share_done(tmp_path) == 0.0
    fit.run(tmp_path)
    assert fit.share_done(tmp_path) == 1.0
    (tmp_path / fit.key / "checkpoints" / "chain-1.npz").write_bytes(b"PK")
    assert fit.share_done(tmp_path) == 0.5


def test_two_processes_do_not_work_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    with (
        locked(tmp_path / "tasks" / "run.lock", wait=False),
        pytest.raises(ValueError, match="another process is working"),
    ):
        run_tasks([Counted("a", tmp_path)], tmp_path / "tasks", jobs=1, quiet=True)


def test_a_fit_of_another_process_is_left_alone(tmp_path: Path) -> None:
    fit = Fit("case-1", 0.4, "ABT", "factors", 0, Size(2, 5, 10, 1))
    fit.run(tmp_path)
    draws, lock = tmp_path / fit.key / "draws.zarr", tmp_path / fit.key / "checkpoints" / "run.lock"
    with locked(lock, wait=False), pytest.raises(ValueError, match="another process is writing"):
        fit.run(tmp_path)
    assert draws.exists()


def test_a_result_of_another_format_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.npz"
    with monkeypatch.context() as patch:
        patch.setattr("manifill.paper.results.FORMAT", 0)
        save_result(path, Result({"x": 1.0}, {}))
    assert load_result(path) is None


ENDLESS = """
import os, sys, time
from dataclasses import dataclass
from pathlib import Path
from manifill.paper.work import run_tasks

@dataclass(frozen=True)
class Endless:
    key: str
    cost: float = 1.0

    def share_done(self, scratch):
        return 0.0

    def run(self, scratch):
        Path(sys.argv[1], f"worker-{os.getpid()}").touch()
        time.sleep(600.0)

run_tasks([Endless("a"), Endless("b")], Path(sys.argv[1]), jobs=2, quiet=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_workers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ENDLESS, tmp_path])
    assert comes_true(lambda: len(list(tmp_path.glob("worker-*"))) == 2)
    process.kill()
    process.wait()
    workers = [int(path.name.partition("-")[2]) for path in tmp_path.glob("worker-*")]
    assert comes_true(lambda: not any(is_running(worker) for worker in workers))


def comes_true(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait for something, and say whether it came."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)
    return holds()


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 not a zip file"])
def test_a_damaged_result_is_no_result(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "result.npz"
    save_result(path, Result({"x": [1.0, None, "y"]}, {"array": np.arange(3)}))
    found = load_result(path)
    assert found is not None
    assert found.figures == {"x": [1.0, None, "y"]}
    path.write_bytes(damage)
    assert load_result(path) is None


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_a_fit_that_was_begun_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off before its summary, the second try finds the draws there and ends with the same figures."""
    fit = Fit("case-1", 0.4, "ABT", "factors", 0, Size(2, 10, 20, 1))
    whole = fit.run(tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr("manifill.paper.fits.summary", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            fit.run(tmp_path / "cut")
    assert (tmp_path / "cut" / fit.key / "draws.zarr").exists()
    assert fit.run(tmp_path / "cut").figures["deviations"] == whole.figures["deviations"]


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
@pytest.mark.parametrize("lost", ["checkpoints", "draws.zarr/posterior", "draws.zarr/zarr.json"])
def test_a_fit_that_cannot_be_gone_on_with_is_begun_anew(lost: str, tmp_path: Path) -> None:
    fit = Fit("case-1", 0.4, "ABT", "factors", 0, Size(2, 5, 10, 1))
    whole, gone = fit.run(tmp_path), tmp_path / fit.key / lost
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    assert fit.run(tmp_path).figures["deviations"] == whole.figures["deviations"]


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_draws_are_not_kept(tmp_path: Path) -> None:
    fit = Fit("case-1", 0.4, "ABT", "factors", 0, Size(2, 5, 10, 1))
    result = run_tasks([fit], tmp_path / "tasks", jobs=1, quiet=True)[fit.key]
    assert not list((tmp_path / "tasks" / "begun").iterdir())
    assert result.figures["made"]["versions"].startswith("manifill ")
