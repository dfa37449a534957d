"""Records of chains, and recorders that collect them while chains run."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from manifill.base.arrays import Array, Vector
from manifill.base.variables import Variable

__all__ = ["ChainRecord", "MemoryRecorder", "Recorder", "columns", "largest_rectangle"]


class ChainRecord(NamedTuple):
    """The record of one chain, complete or stopped early."""

    variables: tuple[Variable, ...]
    draws: int  # completed
    # Empty if the chain is on disk:
    posterior: dict[str, Array]  # (draw, …)
    statistics: dict[str, Vector]  # (draw,)
    warmup_statistics: dict[str, Vector]  # (warm-up iteration,)

    def followed_by(self, later: "ChainRecord") -> "ChainRecord":
        """Return this record and that of the next stretch of the same chain as one; both are in memory."""
        if not later.draws:  # it may have been stopped before it had any arrays
            return self
        return self._replace(
            draws=self.draws + later.draws,
            posterior=_concatenated(self.posterior, later.posterior),
            statistics=_concatenated(self.statistics, later.statistics),
        )


class Recorder(Protocol):
    """Records one chain."""

    def warm(self, statistics: Mapping[str, float]) -> None:
        """Record an iteration of warm-up."""

    def append(self, draw: Mapping[str, Array], statistics: Mapping[str, float]) -> None:
        """Record a draw and the iteration that led to it."""

    def flush(self) -> None:
        """Make everything recorded so far persistent."""

    def finish(self) -> ChainRecord:
        """Return the record; the chain may have been stopped before its last draw."""


class MemoryRecorder:
    """Keeps a chain in memory, in float64; all memory is allocated at the start, so that a shortage shows early."""

    def __init__(self, variables: tuple[Variable, ...], draws: int) -> None:
        self._variables = variables
        self._posterior: dict[str, Array] = {v.name: np.empty((draws, *v.shape)) for v in variables}
        self._statistics: list[Mapping[str, float]] = []
        self._warmup_statistics: list[Mapping[str, float]] = []

    def warm(self, statistics: Mapping[str, float]) -> None:
        self._warmup_statistics.append(statistics)

    def append(self, draw: Mapping[str, Array], statistics: Mapping[str, float]) -> None:
        for name, kept in self._posterior.items():
            kept[len(self._statistics)] = draw[name]
        self._statistics.append(statistics)  # last, since its length is the number of draws if Ctrl-C interrupts

    def flush(self) -> None:
        """Do nothing."""

    def finish(self) -> ChainRecord:
        draws = len(self._statistics)
        return ChainRecord(
            variables=self._variables,
            draws=draws,
            posterior={name: kept[:draws] for name, kept in self._posterior.items()},
            statistics=columns(self._statistics),
            warmup_statistics=columns(self._warmup_statistics),
        )


def _concatenated(first: Mapping[str, Array], second: Mapping[str, Array]) -> dict[str, Array]:
    """Return arrays by name, one after the other; the first has no arrays if nothing was recorded."""
    return {name: np.concatenate([first[name], more]) if name in first else more for name, more in second.items()}


def columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Vector]:
    """Return one vector per name from one mapping per iteration."""
    names = rows[0] if rows else ()
    return {name: np.array([row[name] for row in rows], dtype=np.float64) for name in names}


def largest_rectangle(counts: Sequence[int]) -> tuple[list[int], int]:
    """Return which chains to keep, and how many draws of each, so that as many draws as possible are kept.

    Chains that were stopped early have unequal ``counts`` of draws, but arrays are rectangular.  Of equally large
    rectangles the one with more chains is taken.  Raise a ValueError if there are no draws.
    """
    if not any(counts):
        raise ValueError(
            "no chain completed a draw: the run was interrupted during warm-up; let it run longer, or ask for a "
            "shorter warm-up."
        )
    choices = [([chain for chain, count in enumerate(counts) if count >= length], length) for length in set(counts)]
    return max(choices, key=lambda choice: (len(choice[0]) * choice[1], len(choice[0])))
