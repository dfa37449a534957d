"""Observed cells and labels in an ``.npz`` file, without pickle."""

import json
from pathlib import Path

import numpy as np

from manifill.base.arrays import Array
from manifill.base.atomic_files import replacing
from manifill.base.errors import Damage, DamagedRunError
from manifill.problem import Observations

__all__ = ["load_observations", "save_observations"]


def save_observations(path: Path, observations: Observations) -> None:
    """Write cells and labels to an ``.npz`` file."""
    rows, cols, values = observations.triples()
    parts: dict[str, Array] = {"rows": rows, "cols": cols, "values": values, "shape": np.array(observations.shape)}
    for name, labels in (("row_labels", observations.row_labels), ("column_labels", observations.column_labels)):
        if labels is not None:
            parts[name] = _writable(name, labels)
    with replacing(path) as file:
        np.savez_compressed(file, **parts)  # type: ignore[arg-type]


def load_observations(path: Path) -> Observations:
    """Read a file written by ``save_observations``, or raise a DamagedRunError if it is missing or damaged."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:  # np.load leaves a damaged file open
            parts = dict(file)
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


def _writable(name: str, labels: Array) -> Array:
    """Return labels as an array that needs no pickle: numbers and text unchanged, mixed types as JSON."""
    if labels.dtype != object:
        return labels
    plain = labels.tolist()
    if all(isinstance(label, str) for label in plain):
        return np.array(plain)
    if all(isinstance(label, (str, int, float, bool)) for label in plain):
        return np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)
    odd = next(label for label in plain if not isinstance(label, (str, int, float, bool)))
    raise ValueError(f"{name} hold {odd!r}, which cannot be stored; convert it to text or a number first.")


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
