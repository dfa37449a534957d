"""Run directories: the data of a fit, its draws and the checkpoints of its chains in one folder, without pickle."""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from manifill.files import replacing
from manifill.problem import Observations
from manifill.types import Array

__all__ = ["RunFolder", "difference", "fingerprint", "load_observations", "save_observations"]

# Settings that may differ between a run and its continuation: how much is drawn, and what no draw depends on.
FREE_SETTINGS = ("draws", "jobs", "path", "progress")


class RunFolder:
    """The places in a run directory."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.data = self.path / "data.npz"  # observed cells, shape and labels
        self.held_out = self.path / "held_out.npz"  # cells left out of the fit to judge it by, where there are any
        self.draws = self.path / "draws.zarr"  # and in its attributes settings, seed, versions, fingerprint
        self.checkpoints = self.path / "checkpoints"  # chain-0.npz …, where each chain is

    def check_free(self, *, resume: bool) -> None:
        """Raise a ValueError where something is in the way: anything, or what is no run where one is to be resumed."""
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return
        if not resume:
            remedy = "choose another folder, delete it, or resume the run in it"
            raise ValueError(f"{self.path} exists already; {remedy}.")
        if not self.checkpoints.is_dir():
            raise ValueError(f"{self.path} is no run of manifill that could be resumed; choose another folder.")


def fingerprint(observations: Observations) -> str:
    """Return a hash of cells, shape and labels."""
    digest = hashlib.sha256(json.dumps(observations.shape).encode())
    for part in observations.triples():
        digest.update(np.ascontiguousarray(part).tobytes())
    for labels in (observations.row_labels, observations.column_labels):
        digest.update(json.dumps(None if labels is None else [str(label) for label in labels.tolist()]).encode())
    return digest.hexdigest()


def difference(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """Say what differs between the attributes of a run and those of its continuation, or None."""
    if before["fingerprint"] != now["fingerprint"]:
        return f"the data differ: {_describe(before)} then, {_describe(now)} now"
    old, new = before["settings"], now["settings"]
    names = [name for name in sorted({*old, *new}) if name not in FREE_SETTINGS and old.get(name) != new.get(name)]
    if names:
        changes = (f"{name} was {old.get(name)!r} and is {new.get(name)!r}" for name in names)
        return "the settings differ: " + ", ".join(changes)
    return None


def _describe(attributes: dict[str, Any]) -> str:
    m, n = attributes["shape"]
    return f"{attributes['observed_cells']} cells of a {m}×{n} matrix (fingerprint {attributes['fingerprint'][:8]})"


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
    """Read what ``save_observations`` wrote, or raise a ValueError that says what is wrong with the file."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:  # which closes no broken file
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
        raise ValueError(f"{path.parent} is no run of manifill: it has no {path.name}.") from None
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read ({error}); fit again.") from None


def _writable(name: str, labels: Array) -> Array:
    """Return labels as an array that needs no pickle: numbers and text as they are, a mixture as JSON."""
    if labels.dtype != object:
        return labels
    plain = labels.tolist()
    if all(isinstance(label, str) for label in plain):
        return np.array(plain)
    if all(isinstance(label, (str, int, float, bool)) for label in plain):
        return np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)
    odd = next(label for label in plain if not isinstance(label, (str, int, float, bool)))
    raise ValueError(f"{name} hold {odd!r}, which cannot be kept in a file; make it text or a number first.")


def _readable(stored: Array | None) -> Array | None:
    """Undo ``_writable``."""
    if stored is None or stored.dtype != np.uint8:
        return stored if stored is None or stored.dtype.kind != "U" else stored.astype(object)
    labels = np.empty(len(plain := json.loads(stored.tobytes())), dtype=object)
    labels[:] = plain
    return labels
