"""Records a chain in a store while it runs."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from manifill.base.arrays import Array
from manifill.base.errors import DamagedRunError
from manifill.base.variables import Variable
from manifill.posterior.checked_arrays import CheckedArray, open_checked
from manifill.posterior.recorders import ChainRecord, columns
from manifill.posterior.store_layout import COMPLETED, POSTERIOR, PROGRESS, STATISTICS, WARMUP_STATISTICS
from manifill.posterior.stored_draws import completed_draws, open_arrays

__all__ = ["DiskRecorder"]


class DiskRecorder:
    """Writes a chain to a store, one chunk of draws at a time.

    ``warmed`` and ``drawn`` are the numbers of warm-up iterations and draws already in the store, if the chain is
    resumed.  Draws that have been counted stay so while a chain repeats them, unless it starts again because some of
    them are damaged.
    """

    def __init__(
        self,
        path: str | Path,
        chain: int,
        variables: tuple[Variable, ...],
        statistic_names: tuple[str, ...],
        warmup: int,
        *,
        warmed: int = 0,
        drawn: int = 0,
    ) -> None:
        path = Path(path)
        self._variables = variables
        self._chain = chain
        self._arrays = {v.name: open_checked(path / POSTERIOR / v.name, "r+") for v in variables}
        self._completed = open_checked(path / PROGRESS / COMPLETED, "r+")
        self._rhythm: int = min(array.chunks[1] for array in self._arrays.values())
        self._buffers = {
            name: np.empty((self._rhythm, *array.shape[2:]), array.dtype) for name, array in self._arrays.items()
        }
        self._anew, self._counted = _earlier_draws(path, chain, restarts=not (warmed or drawn))
        self._statistics = _Series(path / STATISTICS, chain, statistic_names, drawn, anew=self._anew)
        warmup_names = statistic_names if warmup else ()
        self._warmup_statistics = _Series(path / WARMUP_STATISTICS, chain, warmup_names, warmed, anew=self._anew)
        if self._anew:
            self._count_draws()

    def warm(self, statistics: Mapping[str, float]) -> None:
        self._warmup_statistics.append(statistics)
        if self._warmup_statistics.waiting >= self._rhythm:
            self._warmup_statistics.write()

    def append(self, draw: Mapping[str, Array], statistics: Mapping[str, float]) -> None:
        for name, buffer in self._buffers.items():
            buffer[self._statistics.waiting] = draw[name]
        self._statistics.append(statistics)  # last, since its length is the number of draws if Ctrl-C interrupts
        if self._statistics.waiting == self._rhythm:
            self.flush()

    def flush(self) -> None:
        first, waiting = self._statistics.written, self._statistics.waiting
        if waiting:
            for name, array in self._arrays.items():
                array.write(self._chain, first, self._buffers[name][:waiting], anew=self._anew)
        self._warmup_statistics.write()
        self._statistics.write()
        self._count_draws()  # last, since it makes the draws valid

    def finish(self) -> ChainRecord:
        self.flush()
        return ChainRecord(self._variables, self._statistics.written, {}, {}, {})

    def _count_draws(self) -> None:
        self._counted = max(self._counted, self._statistics.written)
        self._completed.write_entry(self._chain, self._counted)


def _earlier_draws(path: Path, chain: int, *, restarts: bool) -> tuple[bool, int]:
    """Return whether to replace all chunks of a chain, and its number of draws so far.

    Chunks are replaced if the chain restarts because some of them are damaged.
    """
    arrays = open_arrays(path)
    counts, damage = completed_draws(arrays)
    if not restarts:
        if any(one.chain == chain for one in damage):
            raise DamagedRunError.of(damage)
        return False, counts[chain]
    is_damaged = any(one.chain == chain for one in damage) or any(arrays.damaged(chain, counts[chain]))
    return is_damaged, 0 if is_damaged else counts[chain]


class _Series:
    """The statistics of one chain, buffered and written to the arrays of a group."""

    def __init__(self, group: Path, chain: int, names: tuple[str, ...], written: int, *, anew: bool) -> None:
        self.written = written
        self._anew = anew
        self._rows: list[Mapping[str, float]] = []
        self._chain = chain
        self._arrays: dict[str, CheckedArray] = {name: open_checked(group / name, "r+") for name in names}

    @property
    def waiting(self) -> int:
        return len(self._rows)

    def append(self, row: Mapping[str, float]) -> None:
        self._rows.append(row)

    def write(self) -> None:
        for name, values in columns(self._rows).items():
            self._arrays[name].write(self._chain, self.written, values, anew=self._anew)
        self.written += len(self._rows)
        self._rows = []
