"""The provenance stored with draws, and the comparison of a run with the settings and data that would resume it."""

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from manifill.base.argument_words import Argument, Wording
from manifill.base.wording import counted
from manifill.likelihoods import Likelihood
from manifill.problem import Observations
from manifill.run.draw_rule import AUTO
from manifill.run.resolved import with_later_constants

__all__ = ["difference", "fingerprint", "provenance"]

LIBRARIES = ("manifill", "numpy", "scipy", "numba")

# Settings that may change when a run is resumed: those on the number of draws, and those that do not affect the draws.
# The seed is compared by itself, since it may be omitted.
FREE_SETTINGS = ("draws", "max_draws", "max_minutes", "jobs", "path", "progress", "seed")


def provenance(
    settings: Mapping[str, Any],
    seed: np.random.SeedSequence,
    observations: Observations,
    held_out: Observations | None,
) -> dict[str, Any]:
    """Return settings, seed, data and versions that the draws depend on, as JSON-serialisable values."""
    kept = None if held_out is None else {"cells": held_out.size, "fingerprint": fingerprint(held_out)}
    return {
        "settings": {name: _plain(value) for name, value in settings.items()},
        "seed": seed.entropy,
        "fingerprint": fingerprint(observations),
        "shape": list(observations.shape),
        "observed_cells": observations.size,
        "held_out": kept,
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
    """Return a description of what differs between a run and the request to resume it, or None.

    The request may omit the seed and the held-out cells, which are stored in the run; if given, they must be the same.
    """
    found: list[str] = []
    if now["settings"]["seed"] is not None and now["seed"] != before["seed"]:
        found.append(f"the seed is {before['seed']} in the run and {now['seed']} here")
    if before["fingerprint"] != now["fingerprint"]:
        found.append(f"the data differ: {_describe(before)} in the run, {_describe(now)} here")
    if now["held_out"] is not None and now["held_out"] != before["held_out"]:
        found.append(f"the held-out cells differ: {_held_out(before)} in the run, {_held_out(now)} here")
    old, new = before["settings"], _with_resolved(before, now["settings"])
    names = (name for name in sorted({*old, *new}) if name not in FREE_SETTINGS and old.get(name) != new.get(name))
    for name in names:
        then, here = Argument(name, old.get(name)), Argument(name, new.get(name))
        found.append(Wording(then, " in the run, but ", here, " here"))
    if not found:
        return None
    return Wording(*[part for one in found for part in ("; ", one)][1:])


def _with_resolved(before: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with those of the run where they are left open, or are what the run's were resolved to."""
    sampler, model, stored = before.get("sampler", {}), before.get("model", {}), before["settings"]
    resolved = {"warmup": sampler.get("warmup"), "sampler": sampler.get("name"), "rank": model.get("rank")}
    resolved["noise"] = _noise_name(model.get("noise"))
    same = [name for name, value in resolved.items() if name in stored and settings[name] in (AUTO, value)]
    if settings["column_transform"] == AUTO or (settings["column_transform"] is None) == _is_untransformed(before):
        same.append("column_transform")
    if "off_components" not in stored:  # none were dropped, and none will be
        same.append("off_components")
    if "offset" not in stored and settings["offset"] == 0.0:  # which the values of earlier runs had
        same.append("offset")
    if isinstance(stored["likelihood"], dict) and with_later_constants(stored["likelihood"]) == settings["likelihood"]:
        same.append("likelihood")
    return settings | {name: stored.get(name) for name in same}


def _is_untransformed(before: dict[str, Any]) -> bool:
    return "column_transform" not in before


def _noise_name(noise: Any) -> str:
    """Return the name of a run's noise."""
    rows, columns = (isinstance(noise, dict) and noise.get(side) is not None for side in ("rows", "columns"))
    return {(True, True): "both", (True, False): "row", (False, True): "column"}.get((rows, columns), "shared")


def _describe(attributes: dict[str, Any]) -> str:
    m, n = attributes["shape"]
    cells = counted(attributes["observed_cells"], "cell")
    return f"{cells} of a {m}×{n} matrix (fingerprint {attributes['fingerprint'][:8]})"


def _held_out(attributes: dict[str, Any]) -> str:
    kept = attributes["held_out"]
    return "none" if kept is None else f"{kept['cells']} (fingerprint {kept['fingerprint'][:8]})"


def _plain(value: Any) -> Any:
    """Return a parameter as a JSON-serialisable value."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Likelihood):
        return {name: _plain(part) for name, part in value.to_json().items()}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value
