"""What a task of a reproduction leaves: figures and arrays, in one file without pickle."""

import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from manifill.files import replacing
from manifill.types import Array

__all__ = ["Result", "Task", "load_result", "save_result"]

FIGURES = "figures"

# Raised whenever tasks leave something else, or do it otherwise: results of another format count as missing.
FORMAT = 1


class Result(NamedTuple):
    """Numbers and words under names, and arrays under others."""

    figures: dict[str, Any]
    arrays: dict[str, Array]


class Task(Protocol):
    """A piece of work that runs by itself and whose result is kept."""

    @property
    def key(self) -> str:
        """A file name that tells it from all other tasks, of other protocols too."""

    @property
    def cost(self) -> float:
        """How long it takes, roughly, in milliseconds."""

    def run(self, scratch: Path) -> Result:
        """Do it; what is in ``scratch`` from an earlier try is gone on with."""

    def share_done(self, scratch: Path) -> float:
        """Return how much of it has been done, by what is in ``scratch``."""


def save_result(path: Path, result: Result) -> None:
    """Write a result as a whole."""
    encoded = np.frombuffer(json.dumps({"format": FORMAT, **result.figures}).encode(), dtype=np.uint8)
    with replacing(path) as file:
        np.savez_compressed(file, **{FIGURES: encoded}, **result.arrays)  # type: ignore[arg-type]


def load_result(path: Path) -> Result | None:
    """Read a result, or None where there is none of this format that can be read."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = dict(file)
        figures = json.loads(arrays.pop(FIGURES).tobytes())
        return Result(figures, arrays) if figures.pop("format") == FORMAT else None
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None
