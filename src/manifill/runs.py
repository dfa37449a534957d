"""Run directories: the data of a fit, its draws and the checkpoints of its chains in one folder, without pickle."""

import json
import zipfile
from pathlib import Path

import numpy as np

from manifill.files import replacing
from manifill.problem import Observations
from manifill.sampling.checkpoint import next_iteration
from manifill.types import Array

__all__ = ["CannotResumeError", "RunFolder", "load_observations", "save_observations"]


class CannotResumeError(ValueError):
    """What is in a folder is no run that could be gone on with."""


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
            raise CannotResumeError(f"{self.path} is no run of manifill that could be resumed; choose another folder.")

    def iterations(self) -> int:
        """Return how many iterations all chains together have gone, up to their last checkpoints."""
        return sum(next_iteration(path) for path in self.checkpoints.glob("chain-*.npz"))


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
