"""Draws on disk: a Zarr store with ArviZ's groups, which xarray opens as a tree.

Every array is ``(chain, draw, …)`` in chunks of one chain.  A chunk is one file, which Zarr writes under a temporary
name and renames, so chains in separate processes never write the same file, and no file is ever half-written.  Nothing
is compressed, since noise does not compress.  Factors are in single precision, everything else in double, since a mean
or an effect may be far from zero.  Arrays are allocated in full and filled with NaN.  A separate array holds the number
of completed draws per chain, and is updated after the draws are written.  The format number is written last: a store
without it is incomplete and holds no draws.
"""

import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manifill.base.arrays import Array
from manifill.base.variables import Variable
from manifill.posterior.chain_subset import Rectangle
from manifill.posterior.recorders import ChainRecord, columns, largest_rectangle

__all__ = [
    "FORMAT",
    "Contents",
    "DiskRecorder",
    "create_store",
    "discard_unfinished",
    "extend_store",
    "open_store",
    "store_attributes",
    "store_format",
]

POSTERIOR, STATISTICS, WARMUP_STATISTICS = "posterior", "sample_stats", "warmup_sample_stats"
PROGRESS, COMPLETED = "progress", "completed"

FORMAT_KEY, FORMAT = "manifill_format", 3

# Formats that can be read.  Format 2 has the same arrays, but its attributes hold no resolved model.
READABLE = (2, 3)

CHUNK_BYTES = 4 * 2**20


class Contents(NamedTuple):
    """What a store holds: the posterior as Zarr arrays, or subsets of them, read when sliced; the rest is in memory."""

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
    attributes: Mapping[str, Any],
) -> None:
    """Allocate a store for a run, full of NaN; ``attributes`` must be JSON."""
    import zarr

    _check_free(Path(path))
    root = zarr.open_group(path, mode="w-", zarr_format=3)
    posterior = _create_group(root, POSTERIOR, chains, draws)
    lengths = _chunk_lengths(variables, draws)
    for variable in variables:
        name, dims, shape = variable
        _create_array(posterior, name, (chains, draws, *shape), lengths[name], _dtype(variable), dims)
    for group_name, length in ((STATISTICS, draws), (WARMUP_STATISTICS, warmup)):
        if length:
            group = _create_group(root, group_name, chains, length)
            for name in statistic_names:
                _create_array(group, name, (chains, length), length, "float64", ())
    root.create_group(PROGRESS).create_array(
        COMPLETED, shape=(chains,), chunks=(1,), dtype="int64", fill_value=0, dimension_names=("chain",)
    )
    root.attrs.update({**attributes, FORMAT_KEY: FORMAT})


def extend_store(path: str | Path, draws: int, attributes: Mapping[str, Any]) -> None:
    """Extend a store to ``draws`` per chain, if it is shorter, and replace attributes."""
    import zarr

    root: Any = zarr.open_group(path, mode="r+")
    for group in (root[POSTERIOR], root[STATISTICS]):
        for array in _arrays(group).values():
            if array.shape[1] < draws:
                array.resize((array.shape[0], draws, *array.shape[2:]))
        if group["draw"].shape[0] < draws:
            group["draw"].resize((draws,))
            group["draw"][:] = np.arange(draws)
    root.attrs.update(attributes)


def store_format(path: str | Path) -> int | None:
    """Return the format of a store, or None if the store is missing or incomplete.

    Raise a ValueError if the store cannot be read, or if its format is unknown.
    """
    import zarr

    try:
        found: Any = zarr.open_group(path, mode="r").attrs.get(FORMAT_KEY)
    except FileNotFoundError:
        found = None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if found is None and _has_draws(Path(path)):
        raise ValueError(f"{path} is damaged: it holds draws, but has lost its attributes.")
    if found is not None:
        _check_readable(path, found)
    return found  # type: ignore[no-any-return]


def discard_unfinished(path: str | Path) -> None:
    """Remove an incomplete store, which holds no draws; raise a ValueError if anything else is at the path."""
    path = Path(path)
    files = [file.relative_to(path) for file in path.rglob("*") if file.is_file()]
    if store_format(path) is None and all(_is_of_zarr(file) for file in files):
        shutil.rmtree(path, ignore_errors=True)
    _check_free(path)


def _has_draws(path: Path) -> bool:
    """Return whether any chain has recorded its number of completed draws: the array's folder of chunks exists."""
    return (path / PROGRESS / COMPLETED / "c").exists()


def _is_of_zarr(file: Path) -> bool:
    """Return whether a file is Zarr's: metadata, a chunk, or a temporary file."""
    return file.name == "zarr.json" or file.suffix == ".partial" or "c" in file.parts


def _check_readable(path: str | Path, found: Any) -> None:
    if found not in READABLE:
        known = " and ".join(map(str, READABLE))
        raise ValueError(
            f"{path} has the format {found!r}, and this version of manifill reads the formats {known}; open it with "
            "the version that wrote it."
        )


def store_attributes(path: str | Path) -> dict[str, Any]:
    """Return the attributes of a store, which may have no draws yet."""
    import zarr

    attributes = dict(zarr.open_group(path, mode="r").attrs)
    attributes.pop(FORMAT_KEY)
    return attributes


def open_store(path: str | Path) -> Contents:
    """Open the completed draws, or raise a ValueError if there are none.

    If chains have different numbers of draws, the largest rectangle of chains and draws is returned.
    """
    import zarr

    try:
        root: Any = zarr.open_group(path, mode="r")
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} holds no draws of manifill: {error}") from None
    attributes = dict(root.attrs)
    found = attributes.pop(FORMAT_KEY, None)
    if found is None:
        if POSTERIOR in root:
            raise ValueError(f"{path} holds a run that was never started; fit again.")
        raise ValueError(f"{path} is a Zarr group, but holds no draws of manifill.")
    _check_readable(path, found)
    missing = [name for name in (PROGRESS, POSTERIOR, STATISTICS) if name not in root]
    if missing:
        raise ValueError(f"{path} is damaged: it has lost {', '.join(missing)}; fit again.")
    kept, length = largest_rectangle(root[PROGRESS][COMPLETED][:].tolist())
    arrays = _arrays(root[POSTERIOR])
    posterior = {name: _part(array, kept, length) for name, array in arrays.items()}
    return Contents(
        variables=tuple(Variable(name, _dims(array)[2:], array.shape[2:]) for name, array in arrays.items()),
        posterior=posterior,
        statistics={name: array[:][kept, :length] for name, array in _arrays(root[STATISTICS]).items()},
        warmup_statistics={name: array[:][kept] for name, array in _arrays(root.get(WARMUP_STATISTICS)).items()},
        attributes=attributes,
    )


def _part(array: Any, kept: list[int], length: int) -> Any:
    """Return an array, or the subset of it that has been drawn."""
    whole = len(kept) == array.shape[0] and length == array.shape[1]
    return array if whole else Rectangle(array, kept, np.arange(length))


class DiskRecorder:
    """Writes a chain to a store, one chunk of draws at a time.

    ``warmed`` and ``drawn`` are the numbers of warm-up iterations and draws already in the store, if the chain is
    resumed.
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
        import zarr

        root: Any = zarr.open_group(path, mode="r+")
        self._variables = variables
        self._chain = chain
        self._arrays = {v.name: root[POSTERIOR][v.name] for v in variables}
        self._completed = root[PROGRESS][COMPLETED]
        self._rhythm: int = min(array.chunks[1] for array in self._arrays.values())
        self._buffers = {
            name: np.empty((self._rhythm, *array.shape[2:]), array.dtype) for name, array in self._arrays.items()
        }
        self._statistics = _Series(root[STATISTICS], chain, statistic_names, drawn)
        warmup_names = statistic_names if warmup else ()
        self._warmup_statistics = _Series(root.get(WARMUP_STATISTICS), chain, warmup_names, warmed)

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
                array[self._chain, first : first + waiting] = self._buffers[name][:waiting]
        self._warmup_statistics.write()
        self._statistics.write()
        self._completed[self._chain] = self._statistics.written  # last, since it makes the draws valid

    def finish(self) -> ChainRecord:
        self.flush()
        return ChainRecord(self._variables, self._statistics.written, {}, {}, {})


class _Series:
    """The statistics of one chain, buffered and written to the arrays of a group."""

    def __init__(self, group: Any, chain: int, names: tuple[str, ...], written: int) -> None:
        self.written = written
        self._rows: list[Mapping[str, float]] = []
        self._chain = chain
        self._arrays = {name: group[name] for name in names}

    @property
    def waiting(self) -> int:
        return len(self._rows)

    def append(self, row: Mapping[str, float]) -> None:
        self._rows.append(row)

    def write(self) -> None:
        for name, values in columns(self._rows).items():
            self._arrays[name][self._chain, self.written : self.written + len(values)] = values
        self.written += len(self._rows)
        self._rows = []


def _check_free(path: Path) -> None:
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise ValueError(f"{path} already exists; delete it, or choose another path to write the draws to.")


def _dtype(variable: Variable) -> str:
    return "float32" if len(variable.shape) > 1 else "float64"


def _chunk_lengths(variables: tuple[Variable, ...], draws: int) -> dict[str, int]:
    """Return how many draws of each variable to put in a chunk.

    The largest variable determines how often all are written.  A variable whose draws all fit in one chunk gets a
    single chunk, which is rewritten as it fills: reading many small files of s and σ would take longer than reading U.
    """
    sizes = {v.name: np.dtype(_dtype(v)).itemsize * math.prod(v.shape) for v in variables}
    rhythm = min(max(CHUNK_BYTES // max(sizes.values()), 1), draws)
    return {name: draws if draws * size <= CHUNK_BYTES else rhythm for name, size in sizes.items()}


def _create_group(root: Any, name: str, chains: int, draws: int) -> Any:
    """Create a group with the coordinates that xarray expects."""
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
