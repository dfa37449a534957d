"""Where a chain is, on disk: its next iteration, state, tuning and generator, in one file without pickle.

State and tuning are named tuples of numbers, arrays and each other.  Their arrays go to the file as they are, all else
as JSON, whose numbers come back bit for bit; only the classes that a sampler names can come out of a file.
"""

import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manifill.files import replacing
from manifill.types import Array, Generator

__all__ = ["Checkpoint", "load_checkpoint", "next_iteration", "restored_generator", "save_checkpoint"]

FORMAT = 1

# What a file that is missing, cut off or something else raises when it is read.
UNREADABLE = (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile)


class Checkpoint(NamedTuple):
    """What a chain needs to go on."""

    iteration: int  # the next one
    state: Any
    tuning: Any
    generator: Mapping[str, Any]  # the state of its bit generator
    line: Any  # what the board showed


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint in the place of the one before."""
    arrays: list[Array] = []
    tree = {"format": FORMAT, "fields": {name: _encoded(part, arrays) for name, part in checkpoint._asdict().items()}}
    text = np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8)
    with replacing(path) as file:
        np.savez(file, tree=text, **{f"array_{k}": array for k, array in enumerate(arrays)})  # type: ignore[arg-type]


def load_checkpoint(path: Path, classes: Iterable[type]) -> Checkpoint | None:
    """Return the checkpoint of a file, or None where there is none or it is broken: the chain then starts anew."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:  # which closes no broken file
            arrays = dict(file)
        tree = json.loads(arrays["tree"].tobytes())
        if tree["format"] != FORMAT:
            return None
        known = {cls.__name__: cls for cls in classes}
        return Checkpoint(**{name: _decoded(part, arrays, known) for name, part in tree["fields"].items()})
    except UNREADABLE:
        return None


def next_iteration(path: Path) -> int:
    """Return which iteration a chain goes on with, zero where there is no checkpoint that tells."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return int(json.loads(file["tree"].tobytes())["fields"]["iteration"])
    except UNREADABLE:
        return 0


def restored_generator(state: Mapping[str, Any]) -> Generator:
    """Return a generator that goes on where another one was."""
    rng = np.random.default_rng(0)
    rng.bit_generator.state = state
    return rng


def _encoded(value: Any, arrays: list[Array]) -> Any:
    """Return a value as JSON, with its arrays put aside."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if hasattr(value, "_asdict"):
        fields = {name: _encoded(part, arrays) for name, part in value._asdict().items()}
        return {"class": type(value).__name__, "fields": fields}
    if isinstance(value, dict):
        return {"dict": {name: _encoded(part, arrays) for name, part in value.items()}}
    return value.item() if isinstance(value, np.generic) else value


def _decoded(tree: Any, arrays: dict[str, Array], classes: dict[str, type]) -> Any:
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[f"array_{tree['array']}"]
    if "dict" in tree:
        return {name: _decoded(part, arrays, classes) for name, part in tree["dict"].items()}
    fields = {name: _decoded(part, arrays, classes) for name, part in tree["fields"].items()}
    return classes[tree["class"]](**fields)
