"""How draws came about: what is kept with them, and whether a run may go on with other settings or data."""

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from manifill.problem import Observations
from manifill.types import Vector

__all__ = ["difference", "fingerprint", "provenance"]

LIBRARIES = ("manifill", "numpy", "scipy", "numba")

# Settings that may differ between a run and its continuation: how much is drawn, and what no draw depends on.
FREE_SETTINGS = ("draws", "jobs", "path", "progress")


def provenance(
    settings: Mapping[str, Any], seed: np.random.SeedSequence, observations: Observations, scales: Vector | None
) -> dict[str, Any]:
    """Return what is needed to know later how the draws came about, as JSON can hold it."""
    scaling = {} if scales is None else {"column_scales": scales.tolist()}
    return scaling | {
        "settings": {name: _plain(value) for name, value in settings.items()},
        "seed": seed.entropy,
        "fingerprint": fingerprint(observations),
        "shape": list(observations.shape),
        "observed_cells": observations.size,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    }


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


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if hasattr(value, "evaluate"):
        return {"name": value.name, **{name: _plain(part) for name, part in value._asdict().items()}}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value
