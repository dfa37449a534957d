"""Progress of a reproduction: a progress bar on a terminal, otherwise a line of text every 30 seconds."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from manifill.paper.tasks import Task

__all__ = ["TaskProgress", "displayed_progress"]

SECONDS_BETWEEN_UPDATES, SECONDS_BETWEEN_LINES = 2.0, 30.0


class TaskProgress:
    """The progress of some tasks; those that are running leave checkpoints in ``scratch``."""

    def __init__(self, tasks: Sequence[Task], scratch: Path) -> None:
        self.total = len(tasks)
        self.cost = sum(task.cost for task in tasks)
        self._scratch = scratch
        self._remaining = {task.key: task for task in tasks}

    def finish(self, task: Task) -> None:
        """Mark a task as finished."""
        del self._remaining[task.key]

    @property
    def finished(self) -> int:
        """The number of finished tasks."""
        return self.total - len(self._remaining)

    def snapshot(self) -> tuple[float, list[str]]:
        """Return the cost of everything done so far, and the name and percentage of each running task."""
        remaining = dict(self._remaining)  # a copy, since another thread may finish a task
        fractions = {task.key: min(task.fraction_done(self._scratch), 1.0) for task in remaining.values()}
        done = self.cost - sum((1.0 - fractions[key]) * task.cost for key, task in remaining.items())
        return done, [f"{key} {fraction:.0%}" for key, fraction in fractions.items() if (self._scratch / key).exists()]


class _Display(Protocol):
    def update(self) -> None:
        """Display the present progress."""


class _ProgressBar:
    def __init__(self, bar: Progress, progress: TaskProgress) -> None:
        self._bar, self._progress = bar, progress
        done, _ = progress.snapshot()
        self._task = bar.add_task("", total=progress.cost, completed=int(done), running="starting", count=0)

    def update(self) -> None:
        done, running = self._progress.snapshot()
        self._bar.update(self._task, completed=done, running=", ".join(running), count=self._progress.finished)


class _ProgressLines:
    def __init__(self, progress: TaskProgress) -> None:
        self._progress = progress
        self._begin = self._last = time.monotonic()
        self._done_before, _ = progress.snapshot()

    def update(self) -> None:
        progress, now = self._progress, time.monotonic()
        if now - self._last < SECONDS_BETWEEN_LINES and progress.finished < progress.total:
            return
        self._last = now
        done, running = progress.snapshot()
        remaining = self._remaining_time(done, now - self._begin)
        doing = "".join(f"; {each}" for each in running)
        print(f"manifill: {progress.finished} of {progress.total} done{remaining}{doing}", file=sys.stderr, flush=True)

    def _remaining_time(self, done: float, seconds: float) -> str:
        if done <= self._done_before:
            return ""
        remaining = seconds * (self._progress.cost - done) / (done - self._done_before)
        return f", about {remaining / 60.0:.0f} min left"


@contextmanager
def displayed_progress(progress: TaskProgress, *, quiet: bool) -> Iterator[None]:
    """Display the progress of tasks while the block runs."""
    if quiet or not progress.total:
        yield
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        with _updated(_ProgressLines(progress)):
            yield
        return
    count = TextColumn("{task.fields[count]} of " + str(progress.total))
    columns = (count, BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[running]}"))
    bar = Progress(*columns, console=console, speed_estimate_period=3600.0)
    with bar, _updated(_ProgressBar(bar, progress)):
        yield


@contextmanager
def _updated(display: _Display) -> Iterator[None]:
    """Update a display from a thread, since the main thread waits for the next task to end."""
    ended = threading.Event()
    thread = threading.Thread(target=_update, args=(display.update, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _update(update: Callable[[], None], ended: threading.Event) -> None:
    while not ended.wait(SECONDS_BETWEEN_UPDATES):
        update()
    update()
