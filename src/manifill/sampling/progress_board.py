"""Shared progress of chains in worker processes.

The board is a small memory-mapped file.  Every chain writes its own row; the waiting process reads all rows, and can
set a stop flag.  A chain on a machine without access to the file runs without it.
"""

from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np

__all__ = ["Board", "Line", "Stage"]


class Stage(IntEnum):
    """The current stage of a chain."""

    WAITING = 0
    STARTING = 1
    COMPILING = 2
    WARMUP = 3
    SAMPLING = 4
    STOPPED = 5
    DONE = 6


class Line(NamedTuple):
    """The progress of a chain, shown as one line; all fields are numbers, so that it is a row of the file."""

    stage: float = Stage.WAITING
    iteration: float = 0.0
    step_size: float = float("nan")
    leapfrog_steps: float = 0.0
    divergences: float = 0.0


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
