"""What a chain leaves behind, and how it is kept while the chain runs."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from manifill.posterior.variables import Variable
from manifill.types import Array, Vector

__all__ = ["ChainRecord", "MemoryRecorder", "Recorder", "columns", "largest_rectangle"]


class ChainRecord(NamedTuple):
    """One chain as far as it came."""

    variables: tuple[Variable, ...]
    draws: int  # completed
    # Empty when they are on disk:
    posterior: dict[str, Array]  # (draw, …)
    statistics: dict[str, Vector]  # (draw,)
    warmup_statistics: dict[str, Vector]  # (warm-up iteration,)


class Recorder(Protocol):
    """Takes down one chain."""

    def warm(self, statistics: Mapping[str, float]) -> None:
        """Record an iteration of warm-up."""

    def append(self, draw: Mapping[str, Array], statistics: Mapping[str, float]) -> None:
        """Record a draw and the iteration that led to it."""

    def flush(self) -> None:
        """Keep what was recorded so far for good."""

    def finish(self) -> ChainRecord:
        """Return the record, also when the chain was stopped before its last draw."""


class MemoryRecorder:
    """Keeps a chain in memory, in float64; all of it is allocated at once, so that a lack of it shows at the start."""

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
        self._statistics.append(statistics)  # last: it is what counts the draws, if Ctrl-C comes in between

    def flush(self) -> None:
        """Memory is all there is."""

    def finish(self) -> ChainRecord:
        draws = len(self._statistics)
        return ChainRecord(
            variables=self._variables,
            draws=draws,
            posterior={name: kept[:draws] for name, kept in self._posterior.items()},
            statistics=columns(self._statistics),
            warmup_statistics=columns(self._warmup_statistics),
        )


def columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Vector]:
    """Return a vector for each name from one mapping an iteration."""
    names = rows[0] if rows else ()
    return {name: np.array([row[name] for row in rows], dtype=np.float64) for name in names}


def largest_rectangle(counts: Sequence[int]) -> tuple[list[int], int]:
    """Return which chains to keep, and how many draws of each, so that most draws are kept.

    Chains that were stopped have unequal ``counts`` of draws, and arrays are rectangular.  Of equally large rectangles
    the one with more chains is taken.  A ValueError says so where there is no draw at all.
    """
    if not any(counts):
        raise ValueError(
            "no chain completed a draw: the run was interrupted during warm-up; let it run longer, or ask for a "
            "shorter warm-up."
        )
    choices = [([chain for chain, count in enumerate(counts) if count >= length], length) for length in set(counts)]
    return max(choices, key=lambda choice: (len(choice[0]) * choice[1], len(choice[0])))
