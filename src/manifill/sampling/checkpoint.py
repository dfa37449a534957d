"""Checkpoints of a chain: its iteration, state, tuning and random generator, in one file without pickle.

State and tuning are nested named tuples of numbers and arrays.  Arrays are stored in binary and everything else as
JSON, whose numbers round-trip exactly.  Loading creates only the classes that the sampler lists.  The file is an
``.npz`` archive whose comment is the checksum of all bytes before it.

The module is in this layer, not in ``run``, because chains save and load their own checkpoints.
"""

import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manifill.base.arrays import Array, Generator
from manifill.base.atomic_files import replacing
from manifill.base.errors import CannotResumeError

__all__ = [
    "CannotResumeError",
    "Checkpoint",
    "check_intact",
    "load_checkpoint",
    "next_iteration",
    "restored_generator",
    "save_checkpoint",
]

FORMAT = 2
CHECKSUM_BYTES = 64  # of a SHA-256 in hexadecimal digits


class Checkpoint(NamedTuple):
    """Everything that is needed to resume a chain."""

    iteration: int  # iterations done
    state: Any
    tuning: Any
    generator: Mapping[str, Any]  # the state of the bit generator
    line: Any  # the chain's entry on the progress board


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, replacing the previous one atomically."""
    arrays: list[Array] = []
    tree = {"format": FORMAT, "fields": {name: _encoded(part, arrays) for name, part in checkpoint._asdict().items()}}
    text = np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8)
    archive = io.BytesIO()
    np.savez(archive, tree=text, **{f"array_{k}": array for k, array in enumerate(arrays)})  # type: ignore[arg-type]
    with replacing(path) as file:
        file.write(_with_checksum(archive.getvalue()))


def load_checkpoint(path: Path, classes: Iterable[type]) -> Checkpoint | None:
    """Return the checkpoint in a file, or None if there is no file.

    An unreadable file raises a CannotResumeError: starting its chain again would overwrite stored draws, so the user
    has to decide.
    """
    try:
        return _read_checkpoint(path, {cls.__name__: cls for cls in classes})
    except FileNotFoundError:
        return None
    except Exception as error:  # a damaged file raises many kinds of errors, from zipfile's to NumPy's
        raise CannotResumeError(
            f"{path} cannot be read ({error}), so its chain cannot be resumed; restore the file from a copy, or delete "
            "it: the chain then starts again from its seed, and its draws are drawn again."
        ) from error


def check_intact(path: Path) -> bytes:
    """Return the contents of a checkpoint, or raise a ValueError if a byte of it has changed."""
    content = path.read_bytes()
    if content[-CHECKSUM_BYTES:] != _checksum(content[:-CHECKSUM_BYTES]):
        raise ValueError("its checksum does not match")
    return content


def _with_checksum(archive: bytes) -> bytes:
    """Return a zip archive with its checksum as the comment; the last two bytes before it are the comment's length."""
    archive = archive[:-2] + CHECKSUM_BYTES.to_bytes(2, "little")
    return archive + _checksum(archive)


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _read_checkpoint(path: Path, classes: dict[str, type]) -> Checkpoint:
    with np.load(io.BytesIO(check_intact(path)), allow_pickle=False) as file:
        arrays = dict(file)
    tree = json.loads(arrays["tree"].tobytes())
    if tree["format"] != FORMAT:
        raise ValueError(f"it has the format {tree['format']!r}, and this version of manifill reads {FORMAT}")
    found = Checkpoint(**{name: _decoded(part, arrays, classes) for name, part in tree["fields"].items()})
    if type(found.iteration) is not int or found.iteration < 0:
        raise ValueError(f"it counts {found.iteration!r} iterations")
    restored_generator(found.generator)  # raises an error if it is not the state of a generator
    return found


def next_iteration(path: Path) -> int:
    """Return how many iterations a chain has done, to show progress; zero if no checkpoint can be read."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return int(json.loads(file["tree"].tobytes())["fields"]["iteration"])
    except Exception:  # as in load_checkpoint
        return 0


def restored_generator(state: Mapping[str, Any]) -> Generator:
    """Return a generator that continues from the state of another one."""
    rng = np.random.default_rng(0)
    rng.bit_generator.state = state
    return rng


def _encoded(value: Any, arrays: list[Array]) -> Any:
    """Return a value as a JSON tree; its arrays are appended to ``arrays``."""
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
    if tree["class"] not in classes:
        raise ValueError(f"it holds a {tree['class']!r}, which this sampler does not know")
    fields = {name: _decoded(part, arrays, classes) for name, part in tree["fields"].items()}
    return classes[tree["class"]](**fields)
