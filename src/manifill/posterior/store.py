"""Draws on disk: a Zarr store in the groups of ArviZ, which xarray opens as a tree.

Every array is ``(chain, draw, …)`` in chunks of one chain, and a chunk is a file: chains in separate processes never
write the same one.  Nothing is compressed, since noise does not compress.  The last thing written is the number of the
format, by ``trim_store``: a store without it is one whose run did not end.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manifill.posterior.recording import ChainRecord, columns, largest_rectangle
from manifill.posterior.variables import Variable
from manifill.types import Array

__all__ = ["Contents", "DiskRecorder", "create_store", "open_store", "trim_store", "write_attributes"]

POSTERIOR, STATISTICS, WARMUP_STATISTICS = "posterior", "sample_stats", "warmup_sample_stats"

FORMAT_KEY, FORMAT = "manifill_format", 1

CHUNK_BYTES = 4 * 2**20


class Contents(NamedTuple):
    """What a store holds: the posterior as Zarr arrays, read when they are sliced, and the rest in memory."""

    variables: tuple[Variable, ...]
    posterior: dict[str, Any]  # (chain, draw, …)
    statistics: dict[str, Array]  # (chain, draw)
    warmup_statistics: dict[str, Array]  # (chain, warm-up iteration)
    attributes: dict[str, Any]


def create_store(
    path: str | Path,
    variables: tuple[Variable, ...],
    statistic_names: tuple[str, ...],
    chains: int,
    draws: int,
    warmup: int,
    dtype: str = "float32",
) -> None:
    """Allocate a store for a run, full of NaN; ``dtype`` is that of the posterior, statistics are float64."""
    import zarr

    _check_free(Path(path))
    root = zarr.open_group(path, mode="w-", zarr_format=3)
    posterior = _create_group(root, POSTERIOR, chains, draws)
    lengths = _chunk_lengths(variables, draws, np.dtype(dtype).itemsize)
    for name, dims, shape in variables:
        _create_array(posterior, name, (chains, draws, *shape), lengths[name], dtype, dims)
    for group_name, length in ((STATISTICS, draws), (WARMUP_STATISTICS, warmup)):
        if length:
            group = _create_group(root, group_name, chains, length)
            for name in statistic_names:
                _create_array(group, name, (chains, length), length, "float64", ())


def write_attributes(path: str | Path, attributes: Mapping[str, Any]) -> None:
    """Write attributes, which must be JSON, to the root of a store.

    Zarr writes them to a temporary file and renames it: they are there as a whole or not at all.
    """
    import zarr

    zarr.open_group(path, mode="r+").attrs.update(attributes)


def open_store(path: str | Path) -> Contents:
    """Open a store for reading, or raise a ValueError that says why it is none."""
    import zarr

    try:
        root: Any = zarr.open_group(path, mode="r")
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} holds no draws of manifill: {error}") from None
    attributes = dict(root.attrs)
    if attributes.pop(FORMAT_KEY, None) != FORMAT:
        if POSTERIOR in root:
            raise ValueError(f"{path} holds an unfinished run, or one of another version of manifill; fit again.")
        raise ValueError(f"{path} is a Zarr group, but holds no draws of manifill.")
    posterior = _arrays(root[POSTERIOR])
    return Contents(
        variables=tuple(Variable(name, _dims(array)[2:], array.shape[2:]) for name, array in posterior.items()),
        posterior=posterior,
        statistics={name: array[:] for name, array in _arrays(root[STATISTICS]).items()},
        warmup_statistics={name: array[:] for name, array in _arrays(root.get(WARMUP_STATISTICS)).items()},
        attributes=attributes,
    )


def trim_store(path: str | Path, counts: Sequence[int]) -> None:
    """Cut a store to the largest rectangle, given the draws that each chain completed, and declare it complete.

    Chains are moved into the place of those left out, a chunk at a time.
    """
    import zarr

    kept, length = largest_rectangle(counts)
    root: Any = zarr.open_group(path, mode="r+")
    for group_name, group in root.groups():
        sizes = {"chain": len(kept)} if group_name == WARMUP_STATISTICS else {"chain": len(kept), "draw": length}
        for array in _arrays(group).values():
            _move_chains(array, kept, sizes.get("draw", array.shape[1]))
        for _, array in group.arrays():
            array.resize(tuple(sizes.get(dim, size) for dim, size in zip(_dims(array), array.shape, strict=True)))
    write_attributes(path, {FORMAT_KEY: FORMAT})


class DiskRecorder:
    """Writes a chain to its place in a store, a chunk of draws at a time."""

    def __init__(
        self,
        path: str | Path,
        chain: int,
        variables: tuple[Variable, ...],
        statistic_names: tuple[str, ...],
        warmup: int,
    ) -> None:
        import zarr

        root: Any = zarr.open_group(path, mode="r+")
        self._variables = variables
        self._chain = chain
        self._arrays = {v.name: root[POSTERIOR][v.name] for v in variables}
        self._rhythm: int = min(array.chunks[1] for array in self._arrays.values())
        self._buffers = {
            name: np.empty((self._rhythm, *array.shape[2:]), array.dtype) for name, array in self._arrays.items()
        }
        self._statistics = _Series(root[STATISTICS], chain, statistic_names)
        warmup_names = statistic_names if warmup else ()
        self._warmup_statistics = _Series(root.get(WARMUP_STATISTICS), chain, warmup_names)

    def warm(self, statistics: Mapping[str, float]) -> None:
        self._warmup_statistics.append(statistics)
        if self._warmup_statistics.waiting >= self._rhythm:
            self._warmup_statistics.write()

    def append(self, draw: Mapping[str, Array], statistics: Mapping[str, float]) -> None:
        for name, buffer in self._buffers.items():
            buffer[self._statistics.waiting] = draw[name]
        self._statistics.append(statistics)  # last: it is what counts the draws, if Ctrl-C comes in between
        if self._statistics.waiting == self._rhythm:
            self._write()

    def finish(self) -> ChainRecord:
        self._write()
        return ChainRecord(
            variables=self._variables,
            draws=len(self._statistics.rows),
            posterior={},
            statistics=columns(self._statistics.rows),
            warmup_statistics=columns(self._warmup_statistics.rows),
        )

    def _write(self) -> None:
        first, waiting = self._statistics.written, self._statistics.waiting
        if waiting:
            for name, array in self._arrays.items():
                array[self._chain, first : first + waiting] = self._buffers[name][:waiting]
        self._statistics.write()
        self._warmup_statistics.write()


class _Series:
    """The statistics of one chain: kept as they come, and written to the arrays of a group now and then."""

    def __init__(self, group: Any, chain: int, names: tuple[str, ...]) -> None:
        self.rows: list[Mapping[str, float]] = []
        self.written = 0
        self._chain = chain
        self._arrays = {name: group[name] for name in names}

    @property
    def waiting(self) -> int:
        return len(self.rows) - self.written

    def append(self, row: Mapping[str, float]) -> None:
        self.rows.append(row)

    def write(self) -> None:
        new = columns(self.rows[self.written :])
        for name, values in new.items():
            self._arrays[name][self._chain, self.written : self.written + len(values)] = values
        self.written = len(self.rows)


def _check_free(path: Path) -> None:
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise ValueError(f"{path} exists already; delete it, or choose another path to write the draws to.")


def _chunk_lengths(variables: tuple[Variable, ...], draws: int, itemsize: int) -> dict[str, int]:
    """Return how many draws of each variable to put in a chunk.

    The largest variable sets the rhythm in which all are written, but one that fits a chunk as a whole gets one, which
    is written again as it fills: small files for each s and σ would take longer to read than U.
    """
    sizes = {v.name: itemsize * math.prod(v.shape) for v in variables}
    rhythm = min(max(CHUNK_BYTES // max(sizes.values()), 1), draws)
    return {name: draws if draws * size <= CHUNK_BYTES else rhythm for name, size in sizes.items()}


def _create_group(root: Any, name: str, chains: int, draws: int) -> Any:
    """Create a group with the coordinates that xarray looks for."""
    group = root.create_group(name)
    for dim, size in (("chain", chains), ("draw", draws)):
        group.create_array(dim, data=np.arange(size), dimension_names=(dim,), compressors=None)
    return group


def _create_array(
    group: Any, name: str, shape: tuple[int, ...], chunk_length: int, dtype: str, dims: tuple[str, ...]
) -> None:
    group.create_array(
        name,
        shape=shape,
        chunks=(1, chunk_length, *shape[2:]),
        dtype=dtype,
        fill_value=np.nan,
        compressors=None,
        dimension_names=("chain", "draw", *dims),
    )


def _arrays(group: Any) -> dict[str, Any]:
    """Return the arrays of a group by name, in alphabetical order, without its coordinates."""
    found = [] if group is None else group.arrays()
    return dict(sorted((name, array) for name, array in found if array.ndim >= 2))


def _dims(array: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = array.metadata.dimension_names
    return names


def _move_chains(array: Any, kept: list[int], length: int) -> None:
    """Copy the first draws of the chains ``kept`` to places 0, 1, …; in this order none is overwritten unread."""
    step = array.chunks[1]
    for place, chain in enumerate(kept):
        if place != chain:
            for first in range(0, length, step):
                array[place, first : first + step] = array[chain, first : first + step]
