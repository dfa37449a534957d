"""Progress of tasks."""

from pathlib import Path

import pytest

from manifill.paper.task_progress import TaskProgress
from manifill.paper.task_runner import run_tasks
from tests.paper.counted_task import CountedTask


def test_lines_report_the_progress(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_tasks([CountedTask("a", tmp_path)], tmp_path / "tasks", jobs=1, quiet=False)
    assert "1 of 1 done, about 0 min left" in capsys.readouterr().err
    run_tasks([CountedTask("a", tmp_path), CountedTask("b", tmp_path)], tmp_path / "tasks", jobs=1, quiet=False)
    assert "1 to run, the longest first; 1 already finished" in capsys.readouterr().err


def test_running_tasks_count_in_part(tmp_path: Path) -> None:
    long, short = CountedTask("long", tmp_path, 8.0), CountedTask("short", tmp_path, 2.0)
    progress = TaskProgress([long, short], tmp_path)
    assert progress.snapshot() == (0.0, [])
    (tmp_path / "long").mkdir()
    assert progress.snapshot() == (2.0, ["long 25%"])
    progress.finish(short)
    assert (progress.finished, progress.snapshot()) == (1, (4.0, ["long 25%"]))
