"""Observed cells and labels in an ``.npz`` file, without pickle."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from manifill.base import progress
from manifill.base.arrays import Array
from manifill.base.atomic_files import replacing
from manifill.base.errors import Damage, DamagedRunError
from manifill.problem import Observations
from manifill.run.array_files import write_arrays

__all__ = ["check_labels", "load_observations", "save_observations"]

# Kinds of arrays that are stored as they are: numbers, bytes, text, dates without a time zone, and durations.
PLAIN_KINDS = "biufcSUMm"


def check_labels(observations: Observations) -> None:
    """Raise a ValueError if a file cannot hold the labels: objects that only pickle could store."""
    for noun, labels in (("row", observations.row_labels), ("column", observations.column_labels)):
        odd = None if labels is None else _unwritable(labels)
        if odd is not None:
            raise ValueError(
                f"the {noun} labels hold {odd!r}, which a run on disk cannot store; convert them to text, for example "
                "with astype(str)."
            )


def save_observations(path: Path, observations: Observations) -> None:
    """Write cells and labels to an ``.npz`` file."""
    rows, cols, values = observations.triples()
    parts: dict[str, Array] = {"rows": rows, "cols": cols, "values": values, "shape": np.array(observations.shape)}
    for name, labels in (("row_labels", observations.row_labels), ("column_labels", observations.column_labels)):
        if labels is not None:
            parts[name] = _writable(labels)
    with replacing(path) as file:
        write_arrays(file, parts, path.name)


def load_observations(path: Path) -> Observations:
    """Read a file written by ``save_observations``, or raise a DamagedRunError if it is missing or damaged."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:  # np.load leaves a damaged file open
            names = progress.counted(file.files, f"reading {path.name}", len(file.files), "arrays")
            parts = {name: file[name] for name in names}
        m, n = parts["shape"].tolist()
        return Observations.from_triples(
            parts["rows"],
            parts["cols"],
            parts["values"],
            (m, n),
            row_labels=_readable(parts.get("row_labels")),
            column_labels=_readable(parts.get("column_labels")),
        )
    except FileNotFoundError:
        raise DamagedRunError.of([Damage(path, "is missing")]) from None
    except Exception as error:  # a damaged file raises many kinds of errors, from zipfile's to NumPy's
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DamagedRunError.of([Damage(path, f"is damaged: {reason}")]) from None


def _unwritable(labels: Array) -> object | None:
    """Return the first label that a file cannot hold, or None."""
    if labels.dtype.kind in PLAIN_KINDS:
        return None
    return next((label for label in _plain(labels) if not isinstance(label, (str, int, float))), None)


def _writable(labels: Array) -> Array:
    """Return labels as an array that needs no pickle: objects as JSON in bytes, which ``uint8`` marks."""
    if labels.dtype == np.uint8:
        return labels.astype(np.int16)
    if labels.dtype.kind in PLAIN_KINDS:
        return labels
    # Not an array of text: it is as wide as its longest label in every row, and drops NUL characters at the ends.
    return np.frombuffer(json.dumps(_plain(labels)).encode(), dtype=np.uint8)


def _plain(labels: Array) -> list[Any]:
    """Return labels as Python values; an array of objects may hold NumPy's numbers."""
    return [label.item() if isinstance(label, np.number | np.bool_) else label for label in labels.tolist()]


def _readable(stored: Array | None) -> Array | None:
    """Undo ``_writable``."""
    if stored is None or stored.dtype != np.uint8:
        return stored if stored is None or stored.dtype.kind != "U" else stored.astype(object)
    plain = json.loads(stored.tobytes())
    if not isinstance(plain, list) or not all(isinstance(label, (str, int, float)) for label in plain):
        raise ValueError("its labels are neither text nor numbers")
    labels = np.empty(len(plain), dtype=object)
    labels[:] = plain
    return labels
