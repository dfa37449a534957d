"""Runs the fits one after the other, each in its own process with a time limit, and stores the figures as they come."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from accuracy.registry import ALL, Task

Record = dict[str, Any]

NOT_INSTALLED, OVER_LIMIT = "not installed", "over the time limit"

# Peers count as single-threaded, so that processor time is the time of the computation.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Results:
    """Records of fits in a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def records(self) -> list[Record]:
        """Return the last record of each task, without a line that was cut off."""
        found = _parsed(self.path) if self.path.exists() else []
        return list({task_of(record): record for record in found}.values())

    def add(self, record: Record) -> None:
        """Append a record."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def missing(self, tasks: Sequence[Task]) -> list[Task]:
        """Return the tasks without figures; those over the time limit are not tried again."""
        done = {task_of(record) for record in self.records() if record.get("failure") in (None, OVER_LIMIT)}
        return [task for task in tasks if task not in done]

    def was_over_limit(self, task: Task) -> bool:
        """Return whether the same method has passed the time limit on a split of the same table."""
        late = (task_of(record) for record in self.records() if record.get("failure") == OVER_LIMIT)
        return any(other._replace(split=task.split) == task for other in late)


def _parsed(path: Path) -> Iterator[Record]:
    for line in path.read_text().splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def task_of(record: Record) -> Task:
    """Return the task that a record is of."""
    return Task(record["table"], record["method"], record["standardised"], record["split"])


def run(tasks: Sequence[Task], results: Results, quick: bool, limit: float) -> None:
    """Run what has no record yet, and say how long the rest may take.

    A method that has passed the time limit on a table is not run on further splits of it.
    """
    todo, spent = results.missing(tasks), 0.0
    for number, task in enumerate(todo):
        left = f", about {spent / number * (len(todo) - number) / 60:.0f} minutes left" if number else ""
        _say(f"{number + 1} of {len(todo)}{left}: {describe(task)}")
        begin = time.perf_counter()
        slow = results.was_over_limit(task)
        record = task._asdict() | ({"failure": OVER_LIMIT} if slow else one_fit(task, quick, limit))
        spent += time.perf_counter() - begin
        if "failure" in record:
            _say(f"  FAILED: {record['failure']}")
        results.add(record)


def describe(task: Task) -> str:
    """Return a task in words."""
    return f"{task.table}, split {task.split}, {task.method}{', standardised' if task.standardised else ''}"


def one_fit(task: Task, quick: bool, limit: float) -> Record:
    """Return the figures of a fit, or why there are none."""
    if find_spec(ALL[task.method].package) is None:
        return {"failure": NOT_INSTALLED}
    with TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        options = ["--standardised"] * task.standardised + ["--quick"] * quick
        arguments = [str(out), task.table, task.method, str(task.split), *options]
        command = [sys.executable, "-m", "accuracy.one_fit", *arguments]
        failure = _run_limited(command, task, limit, Path(folder) / "log")
        return {"failure": failure} if failure else json.loads(out.read_text())


def _run_limited(command: list[str], task: Task, limit: float, log: Path) -> str | None:
    """Return why a command failed, or None; a command that passes its time limit is killed with its workers."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if ALL[task.method].single_thread:
        environment |= ONE_THREAD
    with log.open("w") as file:
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file, start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            return OVER_LIMIT
        finally:
            _kill_session(process)
    lines = log.read_text(errors="replace").strip().splitlines()
    return None if code == 0 else f"exit code {code}: {lines[-1] if lines else ''}"


def _kill_session(process: "subprocess.Popen[bytes]") -> None:
    """Kill what is left of a command and its workers."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
