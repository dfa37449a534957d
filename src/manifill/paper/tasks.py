"""Tasks of a reproduction, and their results: metrics and arrays in one file without pickle."""

import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from manifill.base.arrays import Array
from manifill.base.atomic_files import replacing

__all__ = ["Result", "Task", "load_result", "save_result"]

# The array of the file that holds the metrics, as JSON.
METRICS = "figures"

# Increased whenever the content or the meaning of results changes.  Results of another format count as missing.
FORMAT = 1


class Result(NamedTuple):
    """The result of a task: metrics (numbers and strings) and arrays, both by name."""

    metrics: dict[str, Any]
    arrays: dict[str, Array]


class Task(Protocol):
    """A computation that runs independently of the others and whose result is stored."""

    @property
    def key(self) -> str:
        """A file name that is unique among all tasks of all protocols."""

    @property
    def cost(self) -> float:
        """The approximate running time in milliseconds."""

    def run(self, scratch: Path) -> Result:
        """Run the task, or resume what an earlier attempt left in ``scratch``."""

    def fraction_done(self, scratch: Path) -> float:
        """Return the completed fraction of the task, according to the files in ``scratch``."""


def save_result(path: Path, result: Result) -> None:
    """Write a result atomically."""
    encoded = np.frombuffer(json.dumps({"format": FORMAT, **result.metrics}).encode(), dtype=np.uint8)
    with replacing(path) as file:
        np.savez_compressed(file, **{METRICS: encoded}, **result.arrays)  # type: ignore[arg-type]


def load_result(path: Path) -> Result | None:
    """Read a result; return None if the file is missing, damaged or of another format."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = dict(file)
        metrics = json.loads(arrays.pop(METRICS).tobytes())
        return Result(metrics, arrays) if metrics.pop("format") == FORMAT else None
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None
