"""A notice board between chains in other processes and the one that waits for them.

It is a small file mapped into memory: every chain writes its own line, the waiting process reads them all and may
write one word, stop.  A chain that cannot see the file (on another machine) runs without it.
"""

from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np

__all__ = ["Board", "Line", "Stage"]


class Stage(IntEnum):
    """What a chain is doing."""

    WAITING = 0
    STARTING = 1
    COMPILING = 2
    WARMUP = 3
    SAMPLING = 4
    STOPPED = 5
    DONE = 6


class Line(NamedTuple):
    """What a chain reports; all are numbers, so that a line is a row of the file."""

    stage: float = Stage.WAITING
    iteration: float = 0.0
    step_size: float = float("nan")
    leapfrog_steps: float = 0.0
    divergences: float = 0.0


class Board:
    """The file: one line a chain, and one for the word from the waiting process."""

    def __init__(self, path: Path, chains: int, *, create: bool = False) -> None:
        self.path = path
        self.chains = chains
        shape = (chains + 1, len(Line._fields))
        self._cells = np.memmap(path, dtype=np.float64, mode="w+" if create else "r+", shape=shape)

    def write(self, chain: int, line: Line) -> None:
        """Replace the line of a chain."""
        self._cells[chain] = line

    def mark(self, chain: int, stage: Stage) -> None:
        """Change only what the chain is doing."""
        self._cells[chain, 0] = stage

    def read(self, chain: int) -> Line:
        """Return the line of a chain."""
        return Line(*self._cells[chain].tolist())

    def stop(self) -> None:
        """Ask all chains to end after their current iteration."""
        self._cells[-1, 0] = 1.0

    @property
    def stopped(self) -> bool:
        """Whether the chains have been asked to end."""
        return bool(self._cells[-1, 0])
