"""Progress of running chains: one live bar per chain on a terminal, a periodic line of text elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from manifill.sampling.progress_board import Board, Line, Stage

__all__ = ["Display", "display"]

SECONDS_BETWEEN_LINES = 10.0

WORDS = {
    Stage.WAITING: "waiting",
    Stage.STARTING: "starting",
    Stage.COMPILING: "compiling (once)",
    Stage.WARMUP: "warm-up",
    Stage.SAMPLING: "sampling",
    Stage.STOPPED: "stopped",
    Stage.DONE: "done",
}


class Display(Protocol):
    """Shows the progress of chains."""

    def update(self, board: Board) -> None:
        """Show the current state of the board."""


class _Nothing:
    def update(self, board: Board) -> None:
        """Show nothing."""


class _Bars:
    """One bar per chain: its stage, iteration, step size, leapfrog steps, divergences and remaining time."""

    def __init__(self, progress: Progress, chains: int, iterations: int) -> None:
        self._progress = progress
        self._tasks: list[TaskID] = [
            progress.add_task(f"chain {chain + 1}", total=iterations, **_fields(Line())) for chain in range(chains)
        ]

    def update(self, board: Board) -> None:
        for chain, task in enumerate(self._tasks):
            line = board.read(chain)
            self._progress.update(task, completed=line.iteration, **_fields(line))


def _fields(line: Line) -> dict[str, Any]:
    moving = line.iteration > 0
    return {
        "doing": WORDS[Stage(int(line.stage))],
        "step": f"step {line.step_size:.2g}" if moving and line.step_size == line.step_size else "",
        "leapfrogs": f"{line.leapfrog_steps:.0f} leapfrogs" if moving and line.leapfrog_steps else "",
        "divergences": f"{line.divergences:.0f} divergent" if line.divergences else "",
    }


class _Lines:
    """One line for all chains every ten seconds, and one when compilation begins: for logs and pipes."""

    def __init__(self, iterations: int) -> None:
        self._iterations = iterations
        self._last = time.monotonic()
        self._announced_compilation = False

    def update(self, board: Board) -> None:
        lines = [board.read(chain) for chain in range(board.chains)]
        if not self._announced_compilation and any(line.stage == Stage.COMPILING for line in lines):
            self._announced_compilation = True
            self._print("compiling kernels; this happens once and takes a minute or two")
        if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            self._print("; ".join(self._describe(chain, line) for chain, line in enumerate(lines)))

    def _describe(self, chain: int, line: Line) -> str:
        return f"chain {chain + 1} {WORDS[Stage(int(line.stage))]} {line.iteration:.0f}/{self._iterations}"

    @staticmethod
    def _print(text: str) -> None:
        print(f"manifill: {text}", file=sys.stderr, flush=True)


@contextmanager
def display(chains: int, iterations: int, *, visible: bool) -> Iterator[Display]:
    """Open the display that suits standard error: bars on a terminal, lines of text otherwise."""
    console = Console(stderr=True)
    if not visible:
        yield _Nothing()
    elif not console.is_terminal:
        yield _Lines(iterations)
    else:
        columns = (
            TextColumn("{task.description} {task.fields[doing]:<16}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            TextColumn("{task.fields[step]:<12} {task.fields[leapfrogs]:<14} {task.fields[divergences]}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console) as progress:
            yield _Bars(progress, chains, iterations)
