"""A value for several tasks: as it is, or in a file whose large arrays worker processes map instead of copying."""

import pickle
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import cloudpickle
import numpy as np

__all__ = ["InFile", "InMemory", "Shared"]

ALIGNMENT = 64  # bytes, as NumPy aligns arrays at most


Value = TypeVar("Value", covariant=True)


class Shared(Protocol[Value]):
    """A value that tasks read."""

    def read(self) -> Value:
        """Return the value."""


class InMemory(NamedTuple):
    """A value that is passed as it is."""

    value: Any

    def read(self) -> Any:
        return self.value


class InFile(NamedTuple):
    """A pickled value in a file of this fit's own temporary folder: first the pickle, then the data of its arrays."""

    path: Path
    spans: tuple[tuple[int, int], ...]  # first byte of each part, and the byte after its last

    @classmethod
    def write(cls, path: Path, value: Any) -> "InFile":
        """Write a value to a file; functions of a script or a notebook may be part of it."""
        buffers: list[pickle.PickleBuffer] = []
        pickled = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        spans, end = [], 0
        with path.open("wb") as file:
            for part in (memoryview(pickled), *(buffer.raw() for buffer in buffers)):
                begin = -(-end // ALIGNMENT) * ALIGNMENT
                file.seek(begin)
                file.write(part)
                end = begin + part.nbytes
                spans.append((begin, end))
        return cls(path, tuple(spans))

    def read(self) -> Any:
        """Return the value; its arrays are writable, and what is written to them stays in this process."""
        # Copy-on-write: kernels are compiled for writable arrays.
        mapped = np.memmap(self.path, mode="c")
        pickled, *buffers = (mapped[begin:end] for begin, end in self.spans)
        return pickle.loads(pickled.data, buffers=buffers)
