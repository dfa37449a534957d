"""Tasks side by side, each done once: what an earlier run has finished is read, what it has begun is gone on with."""

import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import joblib
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from manifill.paper.provenance import with_provenance
from manifill.paper.results import Result, Task, load_result, save_result

__all__ = ["finished", "run_tasks", "unfinished"]

SECONDS_BETWEEN_LINES = 10.0


def run_tasks(tasks: Iterable[Task], folder: Path, *, jobs: int | None, quiet: bool) -> Mapping[str, Result]:
    """Return the result of every task under its key; ``folder`` keeps them.

    All processors work unless ``jobs`` says otherwise, or the cluster that ``joblib.parallel_config`` names, whose
    workers must see ``folder``.  The costliest tasks come first, so that no processor waits long for the last one.
    """
    every = {task.key: task for task in tasks}
    results = finished(every.values(), folder)
    missing = sorted((task for key, task in every.items() if key not in results), key=lambda task: -task.cost)
    folder = folder.absolute()  # workers may have been started in another one
    folder.mkdir(parents=True, exist_ok=True)
    with _shown(missing, len(results), quiet=quiet) as progress:
        for task, result in _finished(missing, folder, jobs):
            results[task.key] = result
            progress.finish(task)
    return results


def finished(tasks: Iterable[Task], folder: Path) -> dict[str, Result]:
    """Return the results that are there."""
    found = {task.key: load_result(_file(folder, task.key)) for task in tasks}
    return {key: result for key, result in found.items() if result is not None}


def unfinished(tasks: Iterable[Task], folder: Path) -> list[Task]:
    """Return the tasks that have no result yet."""
    return [task for task in tasks if not _file(folder, task.key).exists()]


def _finished(tasks: Sequence[Task], folder: Path, jobs: int | None) -> Iterator[tuple[Task, Result]]:
    # None leaves the number to ``parallel_config``, which is 1 where nobody has called it.
    configured = joblib.Parallel().n_jobs != 1
    parallel = joblib.Parallel(jobs or (None if configured else -1), return_as="generator_unordered", batch_size=1)
    done: Iterator[tuple[Task, Result]] = parallel(joblib.delayed(_do)(task, folder) for task in tasks)
    return done


def _do(task: Task, folder: Path) -> tuple[Task, Result]:
    """Do a task, keep its result, and only then let go of what it was made from."""
    scratch = folder / "begun"
    result = with_provenance(task.run(scratch))
    save_result(_file(folder, task.key), result)
    shutil.rmtree(scratch / task.key, ignore_errors=True)
    return task, result


def _file(folder: Path, key: str) -> Path:
    return folder / f"{key}.npz"


class _Shown(Protocol):
    def finish(self, task: Task) -> None:
        """Take note that a task is done."""


class _Nothing:
    def finish(self, task: Task) -> None:
        """Show nothing."""


class _Bar:
    def __init__(self, progress: Progress, tasks: Sequence[Task]) -> None:
        self._progress = progress
        self._costs = progress.add_task("", total=sum(task.cost for task in tasks), name="starting", count=0)
        self._count = 0

    def finish(self, task: Task) -> None:
        self._count += 1
        self._progress.update(self._costs, advance=task.cost, name=task.key, count=self._count)


class _Lines:
    def __init__(self, tasks: Sequence[Task]) -> None:
        self._total, self._count, self._whole = len(tasks), 0, sum(task.cost for task in tasks)
        self._cost, self._begin, self._last = 0.0, time.monotonic(), 0.0

    def finish(self, task: Task) -> None:
        self._count, self._cost = self._count + 1, self._cost + task.cost
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN_LINES or self._count == self._total:
            self._last = now
            left = (now - self._begin) * (self._whole - self._cost) / self._cost
            line = f"manifill: {self._count} of {self._total} done, {task.key} last; about {left / 60.0:.0f} min left"
            print(line, file=sys.stderr, flush=True)


@contextmanager
def _shown(tasks: Sequence[Task], known: int, *, quiet: bool) -> Iterator[_Shown]:
    if quiet or not tasks:
        yield _Nothing()
        return
    before = f"; {known} more are there already" if known else ""
    print(f"manifill: {len(tasks)} fits to run, the longest first{before}", file=sys.stderr, flush=True)
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(tasks)
        return
    count = TextColumn("{task.fields[count]} of " + str(len(tasks)))
    columns = (count, BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[name]}"))
    with Progress(*columns, console=console, speed_estimate_period=3600.0) as progress:
        yield _Bar(progress, tasks)
