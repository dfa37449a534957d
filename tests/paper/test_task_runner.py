"""Tasks run once, and their results are stored."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from manifill.base.atomic_files import locked
from manifill.paper.fit_task import Fit
from manifill.paper.protocol import Size
from manifill.paper.task_runner import run_tasks
from tests.paper.counted_task import CountedTask


def test_finished_tasks_do_not_run_again(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    tasks = [CountedTask("a", marks, 3.0), CountedTask("b", marks, 2.0), CountedTask("c", marks, 1.0)]
    (marks / "trap-b").touch()
    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks, tmp_path / "tasks", jobs=1, quiet=True)
    (marks / "trap-b").unlink()
    results = run_tasks(tasks, tmp_path / "tasks", jobs=1, quiet=True)
    assert {key: result.metrics["name"] for key, result in results.items()} == {"a": "a", "b": "b", "c": "c"}
    assert [(marks / key).read_text() for key in "abc"] == ["x", "xx", "x"]


def test_two_processes_do_not_work_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    with (
        locked(tmp_path / "tasks" / "run.lock", wait=False),
        pytest.raises(ValueError, match="another process is working"),
    ):
        run_tasks([CountedTask("a", tmp_path)], tmp_path / "tasks", jobs=1, quiet=True)


ENDLESS = """
import os, sys, time
from dataclasses import dataclass
from pathlib import Path
from manifill.paper.task_runner import run_tasks

@dataclass(frozen=True)
class Endless:
    key: str
    cost: float = 1.0

    def fraction_done(self, scratch):
        return 0.0

    def run(self, scratch):
        Path(sys.argv[1], f"worker-{os.getpid()}").touch()
        time.sleep(600.0)

run_tasks([Endless("a"), Endless("b")], Path(sys.argv[1]), jobs=2, quiet=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_workers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ENDLESS, tmp_path])
    assert becomes_true(lambda: len(list(tmp_path.glob("worker-*"))) == 2)
    process.kill()
    process.wait()
    workers = [int(path.name.partition("-")[2]) for path in tmp_path.glob("worker-*")]
    assert becomes_true(lambda: not any(is_running(worker) for worker in workers))


def becomes_true(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait for a condition, and return whether it was met in time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_draws_are_deleted(tmp_path: Path) -> None:
    fit = Fit("case-1", 0.4, "ABT", "factors", 0, Size(2, 5, 10, 1))
    result = run_tasks([fit], tmp_path / "tasks", jobs=1, quiet=True)[fit.key]
    assert not list((tmp_path / "tasks" / "begun").iterdir())
    assert result.metrics["made"]["versions"].startswith("manifill ")
