"""How far a reproduction is: a bar on a terminal, a line now and then elsewhere."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from manifill.paper.results import Task

__all__ = ["Tally", "shown"]

SECONDS_BETWEEN_LOOKS, SECONDS_BETWEEN_LINES = 2.0, 30.0


class Tally:
    """What is done of some tasks, and of those that are under way, which leave checkpoints in ``scratch``."""

    def __init__(self, tasks: Sequence[Task], scratch: Path) -> None:
        self.total = len(tasks)
        self.cost = sum(task.cost for task in tasks)
        self._scratch = scratch
        self._left = {task.key: task for task in tasks}

    def finish(self, task: Task) -> None:
        """Take note that a task is done."""
        del self._left[task.key]

    @property
    def count(self) -> int:
        """How many are done."""
        return self.total - len(self._left)

    def look(self) -> tuple[float, list[str]]:
        """Return the cost of all that has been done, and for the tasks under way how far each is."""
        left = dict(self._left)  # another thread may finish one
        shares = {task.key: min(task.share_done(self._scratch), 1.0) for task in left.values()}
        done = self.cost - sum((1.0 - shares[key]) * task.cost for key, task in left.items())
        return done, [f"{key} {share:.0%}" for key, share in shares.items() if (self._scratch / key).exists()]


class _Display(Protocol):
    def update(self) -> None:
        """Show how far it is now."""


class _Bar:
    def __init__(self, progress: Progress, tally: Tally) -> None:
        self._progress, self._tally = progress, tally
        done, _ = tally.look()
        self._task = progress.add_task("", total=tally.cost, completed=int(done), under_way="starting", count=0)

    def update(self) -> None:
        done, under_way = self._tally.look()
        doing = ", ".join(under_way)
        self._progress.update(self._task, completed=done, under_way=doing, count=self._tally.count)


class _Lines:
    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._begin = self._last = time.monotonic()
        self._before, _ = tally.look()

    def update(self) -> None:
        now, finished = time.monotonic(), self._tally.count == self._tally.total
        if now - self._last < SECONDS_BETWEEN_LINES and not finished:
            return
        self._last = now
        done, under_way = self._tally.look()
        left = self._left(done, now - self._begin)
        doing = "".join(f"; {each}" for each in under_way)
        print(f"manifill: {self._tally.count} of {self._tally.total} done{left}{doing}", file=sys.stderr, flush=True)

    def _left(self, done: float, seconds: float) -> str:
        if done <= self._before:
            return ""
        left = seconds * (self._tally.cost - done) / (done - self._before)
        return f", about {left / 60.0:.0f} min left"


@contextmanager
def shown(tally: Tally, *, quiet: bool) -> Iterator[None]:
    """Show a tally for as long as the block runs."""
    if quiet or not tally.total:
        yield
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        with _kept_up_to_date(_Lines(tally)):
            yield
        return
    count = TextColumn("{task.fields[count]} of " + str(tally.total))
    columns = (count, BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[under_way]}"))
    bar = Progress(*columns, console=console, speed_estimate_period=3600.0)
    with bar, _kept_up_to_date(_Bar(bar, tally)):
        yield


@contextmanager
def _kept_up_to_date(display: _Display) -> Iterator[None]:
    """Update a display from a thread, since the main one waits for the next task to end."""
    ended = threading.Event()
    thread = threading.Thread(target=_update, args=(display.update, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _update(update: Callable[[], None], ended: threading.Event) -> None:
    while not ended.wait(SECONDS_BETWEEN_LOOKS):
        update()
    update()
