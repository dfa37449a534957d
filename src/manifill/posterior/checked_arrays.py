"""Arrays of a store whose chunks are checked when they are read.

Zarr fills in a chunk that does not exist, and does not say which file is damaged.  Here, a missing chunk is damage too,
and every error about a chunk names its file.
"""

import math
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from manifill.base.arrays import Array, IntVector
from manifill.base.errors import Damage, DamagedRunError
from manifill.posterior.store_layout import METADATA

__all__ = ["CHECKSUM", "CheckedArray", "open_checked"]

CHECKSUM, CHECKSUM_BYTES = "crc32c", 4

# Codecs that stores use: none of them can run code, whatever the metadata say.  Format 2 compressed its counts.
CODECS = ("bytes", CHECKSUM, "zstd")

# Variables that are scales or precisions.
NOISE = ("row_noise", "row_noise_width", "column_noise", "column_noise_width", "nu")
POSITIVE = ("lambda", "sigma", *NOISE, "tau", "tau_A", "tau_B")

DTYPES = ("float32", "float64", "int64")


@dataclass(frozen=True, eq=False)
class CheckedArray:
    """A Zarr array, (chain, draw, …) or (chain,), in chunks of one chain; a damaged chunk raises a DamagedRunError."""

    array: Any
    folder: Path
    chunk_bytes: int | None  # size of the file of a chunk; None if chunks are compressed
    has_checksums: bool  # whether damage inside a chunk is noticed

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> Any:
        """Data type of the array."""
        return self.array.dtype

    @property
    def chunks(self) -> tuple[int, ...]:
        """Shape of a chunk."""
        return tuple(self.array.chunks)

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return tuple(self.array.metadata.dimension_names)

    def file_of(self, chain: int, index: int) -> Path:
        """Return the file of a chunk: of a chain and its draws, counted in chunks."""
        return self.folder / str(self.array.metadata.encode_chunk_key(self._coordinates(chain, index)))

    def indices_on_disk(self, chain: int) -> list[int]:
        """Return which chunks of a chain exist, ascending."""
        names = (path.name for path in (self.folder / "c" / str(chain)).glob("*"))
        return sorted(index for index in map(int, filter(str.isdecimal, names)) if self.file_of(chain, index).exists())

    def read(self, chain: int, first: int, end: int, *others: Any) -> Array:
        """Return the draws of a chain from ``first`` up to ``end``, (end - first, …), indexed further by ``others``."""
        with self._naming_damage(chain, range(first // self.chunks[1], -(-end // self.chunks[1]))):
            return np.asarray(self.array[(chain, slice(first, end), *others)])

    def read_some(self, chain: int, draws: IntVector) -> Array:
        """Return these draws of a chain, (k, …), without those in between."""
        with self._naming_damage(chain, np.unique(draws // self.chunks[1]).tolist()):
            return np.asarray(self.array.oindex[chain, draws])

    def read_entry(self, chain: int) -> int:
        """Return the entry of a chain in a vector of whole numbers, (chain,)."""
        with self._naming_damage(chain, (0,)):
            return int(self.array[chain])

    def write(self, chain: int, first: int, values: Array, *, anew: bool) -> None:
        """Write draws of a chain, (k, …); they are on disk when this returns.

        A chunk that is only partly written keeps its other draws, unless ``anew``: the chain then has none, and the
        first draw in a chunk replaces all of it.
        """
        length = self.chunks[1]
        begin, end = first, first + len(values)
        while begin < end:
            index, stop = begin // length, min((begin // length + 1) * length, end)
            part = values[begin - first : stop - first]
            if anew and begin == index * length:
                empty = min((index + 1) * length, self.shape[1]) - stop
                part = np.concatenate([part, np.full((empty, *part.shape[1:]), np.nan, part.dtype)])
            self._write_chunk(chain, index, (chain, slice(begin, begin + len(part))), part)
            begin = stop

    def write_entry(self, chain: int, value: int) -> None:
        """Write the entry of a chain in a vector, (chain,)."""
        self.array[chain] = value

    def missing(self, chain: int, draws: int) -> Iterator[Damage]:
        """Yield the files of the first draws of a chain that are missing, or have a wrong size."""
        for index in range(-(-draws // self.chunks[1]) if len(self.shape) > 1 else 1):
            found = self._misfit(chain, index)
            if found is not None:
                yield found

    def damaged(self, chain: int, draws: int) -> Iterator[Damage]:
        """Yield the files of the first draws of a chain that are missing or damaged, after reading all of them."""
        for index in range(-(-draws // self.chunks[1]) if len(self.shape) > 1 else 1):
            found = self._misfit(chain, index) or self._unreadable(chain, index)
            if found is not None:
                yield found

    def check_drawn(self, chain: int, draws: IntVector, values: Array) -> None:
        """Raise a DamagedRunError unless ``values``, (k, …), can be these draws of a chain."""
        problem = self.problem_of(values)
        if problem is not None:
            bad = next(k for k, value in enumerate(values) if self.problem_of(value) is not None)
            raise DamagedRunError.of([Damage(self.file_of(chain, int(draws[bad]) // self.chunks[1]), problem, chain)])

    def problem_of(self, draws: Array) -> str | None:
        """Return what is wrong with draws of this variable; those that were never written are NaN."""
        if not np.isfinite(draws).all():
            return "is damaged: it lacks draws that are counted"
        if self.folder.name in POSITIVE and not (draws > 0.0).all():
            return f"is damaged: it holds values of {self.folder.name} that are not positive"
        return None

    def _write_chunk(self, chain: int, index: int, key: Any, values: Array) -> None:
        try:
            self.array[key] = values
        except ValueError:  # Zarr reads the chunk first if it is not replaced as a whole
            found = self._unreadable(chain, index)
            if found is None:
                raise
            raise DamagedRunError.of([found]) from None

    @contextmanager
    def _naming_damage(self, chain: int, indices: Iterable[int]) -> Iterator[None]:
        found = [damage for damage in (self._misfit(chain, index) for index in indices) if damage is not None]
        if found:
            raise DamagedRunError.of(found)
        try:
            yield
        except Exception:  # a damaged chunk raises errors of many kinds
            found = [damage for damage in (self._unreadable(chain, index) for index in indices) if damage is not None]
            if not found:
                raise
            raise DamagedRunError.of(found) from None

    def _misfit(self, chain: int, index: int) -> Damage | None:
        """Return the damage that the size of a chunk's file shows."""
        file = self.file_of(chain, index)
        try:
            size = os.stat(file).st_size
        except FileNotFoundError:
            return Damage(file, "is missing", chain)
        except OSError as error:  # a link to itself, for example, or a file in the place of a folder
            return Damage(file, f"cannot be read: {error.strerror}", chain)
        if self.chunk_bytes is not None and size != self.chunk_bytes:
            return Damage(file, f"is damaged: it has {size} bytes instead of {self.chunk_bytes}", chain)
        return None

    def _unreadable(self, chain: int, index: int) -> Damage | None:
        """Return the damage that reading a chunk shows."""
        try:
            self.array.blocks[self._coordinates(chain, index)]
        except Exception as error:  # as above
            problem = "its checksum does not match" if self.has_checksums else str(error)
            return Damage(self.file_of(chain, index), f"is damaged: {problem}", chain)
        return None

    def _coordinates(self, chain: int, index: int) -> tuple[int, ...]:
        """Return the coordinates of a chunk in the grid of chunks; chunks span all dimensions after the second."""
        return (chain, index, *(0,) * (len(self.shape) - 2))[: len(self.shape)]


def open_checked(folder: Path, mode: Literal["r", "r+"] = "r") -> CheckedArray:
    """Open the array in a folder of a store, or raise a DamagedRunError that names its metadata."""
    import zarr

    from manifill.posterior.durable_store import DurableStore

    metadata = folder / METADATA
    if not metadata.exists():
        raise DamagedRunError.of([Damage(metadata, "is missing")])
    try:
        with zarr.config.set({"array.write_empty_chunks": True}):  # so that a chunk which is not there is damage
            array: Any = zarr.open_array(DurableStore(folder, read_only=mode == "r"), mode=mode, zarr_format=3)
        problem = _problem(array)
    except Exception as error:  # damaged metadata raise errors of every kind
        problem = _one_line(error)
    if problem is not None:
        raise DamagedRunError.of([Damage(metadata, f"is damaged: {problem}")])
    names = _codec_names(array)
    size = None if "zstd" in names else math.prod(array.chunks) * array.dtype.itemsize
    has_checksums = CHECKSUM in names
    if size is not None and has_checksums:
        size += CHECKSUM_BYTES
    return CheckedArray(array, folder, size, has_checksums)


def _problem(array: Any) -> str | None:
    """Return what distinguishes an array from those of a store, if anything."""
    names, dims = _codec_names(array), array.metadata.dimension_names
    if str(array.dtype) not in DTYPES or any(name not in CODECS for name in names):
        return f"the array has the data type {array.dtype} and the codecs {', '.join(names)}"
    if array.metadata.chunk_key_encoding.separator != "/":
        return "its chunks have other names"
    if dims is None or len(dims) != array.ndim or not all(isinstance(name, str) for name in dims):
        return f"its dimensions are {dims!r}"
    if any(size < 1 for size in array.chunks):
        return f"the shape of its chunks is {array.chunks}"
    if array.ndim == 1:
        return None
    if dims[:2] != ("chain", "draw") or array.dtype.kind != "f":
        return f"its dimensions are {dims!r}"
    if array.chunks[0] != 1 or array.chunks[2:] != array.shape[2:]:
        return f"the shape of its chunks is {array.chunks}"
    return None


def _codec_names(array: Any) -> tuple[str, ...]:
    return tuple(codec.to_dict()["name"] for codec in array.metadata.codecs)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
