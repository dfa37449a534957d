"""Shared progress of chains in worker processes.

The board is a small memory-mapped file.  Every chain writes its own row; the waiting process reads all rows, and can
set a stop flag.  A chain on a machine without access to the file runs without it.
"""

from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np

from manifill.base.progress import Watch

__all__ = ["Board", "BoardListener", "Line", "Stage", "StopRequested"]


class Stage(IntEnum):
    """The current stage of a chain; except for compiling, it moves down this list unless it is started again."""

    WAITING = 0
    INITIALISING = 1
    COMPILING = 2  # a kernel that was not compiled before the chains started
    WARMUP = 3
    DRAWING = 4
    STOPPED = 5
    DONE = 6
    KILLED = 7


class Line(NamedTuple):
    """The progress of a chain, shown as one line; all fields are numbers, so that it is a row of the file."""

    stage: float = Stage.WAITING
    iteration: float = 0.0
    step_size: float = float("nan")
    leapfrog_steps: float = 0.0
    divergences: float = 0.0
    initial_steps: float = 0.0  # of the search for the starting point
    initial_total: float = 0.0  # how many there will be, about; 0 if that is not known


class Board:
    """The file: one row per chain, and one for the stop flag."""

    def __init__(self, path: Path, chains: int, *, create: bool = False) -> None:
        self.path = path
        self.chains = chains
        shape = (chains + 1, len(Line._fields))
        self._cells = np.memmap(path, dtype=np.float64, mode="w+" if create else "r+", shape=shape)

    def write(self, chain: int, line: Line) -> None:
        """Replace the entry of a chain."""
        self._cells[chain] = line

    def mark(self, chain: int, stage: Stage) -> None:
        """Change only the stage of a chain."""
        self._cells[chain, 0] = stage

    def read(self, chain: int) -> Line:
        """Return the entry of a chain."""
        return Line(*self._cells[chain].tolist())

    def stop(self) -> None:
        """Ask all chains to stop after their current iteration."""
        self._cells[-1, 0] = 1.0

    @property
    def stopped(self) -> bool:
        """Whether the chains have been asked to stop."""
        return bool(self._cells[-1, 0])


class StopRequested(Exception):  # noqa: N818 - not an error
    """The chains have been asked to stop, before the first iteration of this one."""


class BoardListener:
    """Writes what a chain reports before its first iteration to the board, and stops the chain if asked to."""

    def __init__(self, board: Board, chain: int) -> None:
        self._board = board
        self._chain = chain
        self._line = Line()

    def begin(self, phase: str, total: float | None, unit: str, guess: float, then: float) -> None:
        iteration = self._board.read(self._chain).iteration  # of an earlier stretch
        self._line = Line(Stage.INITIALISING, iteration, initial_total=total or 0.0)
        self.advance(0.0, "")

    def advance(self, amount: float, doing: str) -> None:
        if self._board.stopped:
            raise StopRequested
        self._line = self._line._replace(initial_steps=self._line.initial_steps + amount)
        self._board.write(self._chain, self._line)

    def expect(self, more: float) -> None:
        if self._line.initial_total:
            self._line = self._line._replace(initial_total=self._line.initial_total + more)

    def compiles(self, now: bool) -> None:
        """Note that the compilation of a kernel begins or ends."""
        self._board.mark(self._chain, Stage.COMPILING if now else Stage.INITIALISING)

    def watch(self, rows: Watch) -> None:
        """Do nothing: a chain has no rows."""

    def note(self, text: str) -> None:
        """Do nothing: the parent process says what there is to say."""
