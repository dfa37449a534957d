"""What was fitted, and how: enough to do it again."""

import json
from typing import Any, NamedTuple

import numpy as np

from manifill.report.study import Study
from manifill.report.words import Table, percent

__all__ = ["Provenance", "provenance"]

LIKELIHOODS = {
    "gaussian": "normal noise",
    "softplus": "positive values with normal noise (softplus)",
    "binomial": "counts or ratings (Binomial)",
}

# Settings that no draw depends on, and that tell of the machine.
LEFT_OUT = ("path", "jobs", "progress")


class Provenance(NamedTuple):
    """The first words of the report, and its last."""

    title: str
    sentence: str
    settings: Table
    origins: Table  # seed, fingerprint, versions and whatever else the draws know


def provenance(study: Study) -> Provenance:
    """Return what is known of how the run came about."""
    attributes = study.draws.attributes
    settings = attributes["settings"]
    return Provenance(
        title=attributes.get("file") or "A completed matrix",
        sentence=_sentence(study, settings),
        settings=_table("setting", {name: settings[name] for name in settings if name not in LEFT_OUT}),
        origins=_table("origin", {name: value for name, value in attributes.items() if name != "settings"}),
    )


def _table(head: str, values: dict[str, Any]) -> Table:
    return Table((head, "value"), [(name, _told(value)) for name, value in values.items()], words=2)


def _sentence(study: Study, settings: dict[str, Any]) -> str:
    (m, n), size = study.observations.shape, study.observations.size
    name = study.model.model_.likelihood.name
    effects = " with row and column effects" if study.draws.has_effects else ""
    scaled = " Columns were divided by their spreads for the fit." if study.is_scaled else ""
    return (
        f"A {m} × {n} matrix ({study.names.row} × {study.names.column}) with {size} observed cells, "
        f"{percent(size / (m * n))} of all, was fitted at rank {study.model.rank}{effects}: "
        f"{LIKELIHOODS.get(name, name)}, sampler {settings['sampler']}, {_drawn(study, settings)}.{scaled}"
    )


def _drawn(study: Study, settings: dict[str, Any]) -> str:
    """Say how much was drawn, and how much was asked for where that is more."""
    chains, draws = study.draws.chains, study.draws.draws
    told = f"{chains} chains of {draws} draws" if chains > 1 else f"one chain of {draws} draws"
    if (chains, draws) == (settings["chains"], settings["draws"]):
        return told
    return f"{told} of the {settings['chains']} chains of {settings['draws']} asked for, as the run was interrupted"


def _told(value: Any) -> str:
    """Return a value in one line; a long list by its ends."""
    if isinstance(value, list) and len(value) > 8 and all(isinstance(part, float) for part in value):
        return f"{len(value)} numbers from {np.min(value):.3g} to {np.max(value):.3g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_told(part)}" for name, part in value.items())
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
