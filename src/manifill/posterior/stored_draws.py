"""Reads the completed draws of a store."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manifill.base.arrays import Array
from manifill.base.errors import Damage, DamagedRunError
from manifill.base.variables import Variable
from manifill.posterior.chain_subset import Rectangle
from manifill.posterior.checked_arrays import CheckedArray, open_checked
from manifill.posterior.recorders import largest_rectangle
from manifill.posterior.store_layout import (
    COMPLETED,
    COORDINATES,
    FORMAT_KEY,
    METADATA,
    POSTERIOR,
    PROGRESS,
    STATISTICS,
    WARMUP_STATISTICS,
    array_folders,
)
from manifill.posterior.zarr_store import read_attributes, store_format

__all__ = ["DIVERGING", "LARGEST_LIST", "Contents", "StoreArrays", "completed_draws", "open_arrays", "open_store"]

# Damaged files are listed up to this number, since damaged metadata may claim any number of chunks.
LARGEST_LIST = 1000

# The attribute with the chains that were left out; it is never stored.
LEFT_OUT = "left_out_chains"

DIVERGING = "diverging"  # the statistic that counts divergent trajectories


class Contents(NamedTuple):
    """What a store holds: the posterior as arrays that are read when sliced; the rest is in memory."""

    variables: tuple[Variable, ...]
    posterior: dict[str, Any]  # (chain, draw, …)
    statistics: dict[str, Array]  # (chain, draw)
    warmup_statistics: dict[str, Array]  # (chain, warm-up iteration)
    attributes: dict[str, Any]


class StoreArrays(NamedTuple):
    """The arrays of a store, by name."""

    posterior: dict[str, CheckedArray]  # (chain, draw, …)
    statistics: dict[str, CheckedArray]  # (chain, draw)
    warmup_statistics: dict[str, CheckedArray]  # (chain, warm-up iteration)
    completed: CheckedArray  # (chain,)

    @property
    def chains(self) -> int:
        """Number of chains, whether they have draws or not."""
        return self.completed.shape[0]

    def missing(self, chain: int, draws: int) -> Iterator[Damage]:
        """Yield the files of the first draws of a chain that are missing, or have a wrong size."""
        for array in self._drawn():
            yield from array.missing(chain, draws)
        for array in self.warmup_statistics.values():
            yield from array.missing(chain, array.shape[1])

    def damaged(self, chain: int, draws: int) -> Iterator[Damage]:
        """Yield the files of the first draws of a chain that are missing or damaged, after reading all of them."""
        for array in self._drawn():
            yield from array.damaged(chain, draws)
        for array in self.warmup_statistics.values():
            yield from array.damaged(chain, array.shape[1])

    def _drawn(self) -> Iterator[CheckedArray]:
        yield from self.posterior.values()
        yield from self.statistics.values()


def open_store(path: str | Path, *, skip_damaged: bool = False) -> Contents:
    """Open the completed draws, or raise a ValueError if there are none.

    If chains have different numbers of draws, the largest rectangle of chains and draws is returned.  All files of
    these draws must be there, with the right size; a chunk that is damaged otherwise raises a DamagedRunError when it
    is read.  With ``skip_damaged``, all draws are read first, and chains with damaged files are left out; the attribute
    ``left_out_chains`` lists them, counted from 0.
    """
    path = Path(path)
    attributes = _attributes(path)
    arrays = open_arrays(path)
    counts, damage = completed_draws(arrays)
    if skip_damaged:
        for chain, count in enumerate(counts):
            damage += islice(arrays.damaged(chain, count), LARGEST_LIST) if count else ()
        left_out = {one.chain for one in damage if one.chain is not None}
        counts = [0 if chain in left_out else count for chain, count in enumerate(counts)]
        if left_out:
            attributes[LEFT_OUT] = sorted(left_out)
        if left_out and not any(counts):
            raise DamagedRunError.of(damage, "every chain with draws is damaged; restore the files, or fit again")
    elif damage:
        raise DamagedRunError.of(damage)
    if not any(counts):
        raise ValueError(f"{path} has no draws: the run was interrupted during warm-up; resume it, or fit again.")
    kept, length = largest_rectangle(counts)
    if not skip_damaged:
        _check(damage for chain in kept for damage in arrays.missing(chain, length))
    return Contents(
        variables=tuple(Variable(name, array.dims[2:], array.shape[2:]) for name, array in arrays.posterior.items()),
        posterior={name: Rectangle(array, kept, np.arange(length)) for name, array in arrays.posterior.items()},
        statistics={
            name: _in_memory(array, kept, length, are_counts=name == DIVERGING)
            for name, array in arrays.statistics.items()
        },
        warmup_statistics={
            name: _in_memory(array, kept, array.shape[1]) for name, array in arrays.warmup_statistics.items()
        },
        attributes=attributes,
    )


def open_arrays(path: Path) -> StoreArrays:
    """Open the arrays of a store, or raise a DamagedRunError if their metadata are damaged or contradictory."""
    completed = open_checked(path / PROGRESS / COMPLETED)
    if len(completed.shape) != 1 or completed.dtype.kind != "i" or completed.chunks != (1,):
        raise DamagedRunError.of([Damage(completed.folder / METADATA, "is damaged: these are not counts of draws")])
    posterior, statistics, warmup_statistics = (
        _group(path, name, completed.shape[0]) for name in (POSTERIOR, STATISTICS, WARMUP_STATISTICS)
    )
    if not posterior:
        raise DamagedRunError.of([Damage(path / POSTERIOR, "holds no variables")])
    return StoreArrays(posterior, statistics, warmup_statistics, completed)


def completed_draws(arrays: StoreArrays) -> tuple[list[int], list[Damage]]:
    """Return the number of completed draws of each chain, 0 if it is damaged, and the damage."""
    counts: list[int] = []
    damage: list[Damage] = []
    allocated = min(array.shape[1] for array in (*arrays.posterior.values(), *arrays.statistics.values()))
    for chain in range(arrays.chains):
        # Format 2 has no file for a chain without draws.
        count = 0
        if arrays.completed.has_checksums or arrays.completed.file_of(chain, 0).exists():
            try:
                count = arrays.completed.read_entry(chain)
            except DamagedRunError as error:
                damage += error.damage
        if not 0 <= count <= allocated:
            file = arrays.completed.file_of(chain, 0)
            damage.append(Damage(file, f"is damaged: it counts {count} draws of {allocated}", chain))
            count = 0
        counts.append(count)
    return counts, damage


def _attributes(path: Path) -> dict[str, Any]:
    if store_format(path) is None:
        if (path / POSTERIOR).is_dir():
            raise ValueError(f"{path} holds a run that was never started; fit again.")
        raise ValueError(f"{path} holds no draws of manifill.")
    attributes = read_attributes(path)
    attributes.pop(FORMAT_KEY)
    attributes.pop(LEFT_OUT, None)  # of draws that were saved after damaged chains had been left out
    return attributes


def _group(path: Path, group: str, chains: int) -> dict[str, CheckedArray]:
    """Return the arrays of a group by name, in alphabetical order, without its coordinates."""
    folders = [folder for folder in array_folders(path, group) if folder.name not in COORDINATES]
    arrays = {folder.name: open_checked(folder) for folder in folders}
    for array in arrays.values():
        if len(array.shape) < 2 or array.shape[0] != chains:
            problem = f"is damaged: the array has the shape {array.shape}, but there are {chains} chains"
            raise DamagedRunError.of([Damage(array.folder / METADATA, problem)])
    return arrays


def _check(damage: Iterator[Damage]) -> None:
    found = list(islice(damage, LARGEST_LIST))
    if found:
        raise DamagedRunError.of(found)


def _in_memory(array: CheckedArray, kept: Sequence[int], length: int, *, are_counts: bool = False) -> Array:
    """Return the statistics of some chains; a count must be a finite number, others may be NaN."""
    found = np.stack([array.read(chain, 0, length) for chain in kept])
    if are_counts:
        for chain, values in zip(kept, found, strict=True):
            array.check_drawn(chain, np.arange(length), values)
    return found
