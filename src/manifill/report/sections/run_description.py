"""The header and the last section of the page: what was fitted, with which settings, seed and versions."""

import json
from typing import Any, NamedTuple

import numpy as np

from manifill.base.wording import counted
from manifill.report.formatting import PageTable, percent
from manifill.report.report_data import ReportData
from manifill.run.attributes import goal_of

__all__ = ["RunDescription", "describe_run"]

# Settings that do not affect the draws and describe the machine.
LEFT_OUT = ("path", "jobs", "progress")


class RunDescription(NamedTuple):
    """Title and summary for the header, settings and provenance for the last section."""

    title: str
    summary: str
    settings: PageTable
    provenance: PageTable  # seed, fingerprint, versions and all other attributes of the draws


def describe_run(data: ReportData) -> RunDescription:
    """Return the description of the run, from the attributes of its draws."""
    attributes = data.draws.attributes
    settings = attributes["settings"]
    return RunDescription(
        title=attributes.get("file") or "A completed matrix",
        summary=_summary(data, settings),
        settings=_table("setting", {name: settings[name] for name in settings if name not in LEFT_OUT}),
        provenance=_table("provenance", {name: value for name, value in attributes.items() if name != "settings"}),
    )


def _table(name: str, values: dict[str, Any]) -> PageTable:
    return PageTable((name, "value"), [(key, _as_text(value)) for key, value in values.items()], text_columns=2)


def _summary(data: ReportData, settings: dict[str, Any]) -> str:
    (m, n), size = data.observations.shape, data.observations.size
    effects = " with row and column effects" if data.draws.has_effects else ""
    sampler = data.draws.attributes.get("sampler", {}).get("name", settings["sampler"])  # what "auto" was resolved to
    scaled = ""
    if data.is_scaled:
        how = "divided by their spreads" if data.draws.column_units.is_linear else "transformed to be nearly normal"
        scaled = f" The columns were {how} for the fit."
    return (
        f"A {m} × {n} matrix ({data.names.row} × {data.names.column}) with {counted(size, 'observed cell')} "
        f"({percent(size / (m * n))} of all cells), fitted at rank {_rank(data, settings)}{effects}: "
        f"{data.model.model_.likelihood.description}, sampler {sampler}, "
        f"{_describe_draws(data, settings)}.{scaled}"
    )


def _rank(data: ReportData, settings: dict[str, Any]) -> str:
    """Return the rank of the model, and that of the request if components were dropped."""
    rank, given = data.model.model_.rank, settings["rank"]
    return f"{rank}" if given in (rank, "auto") else f"{rank} ({given} less {given - rank} components that were off)"


def _describe_draws(data: ReportData, settings: dict[str, Any]) -> str:
    """Return the number of chains and draws, and the requested numbers if the run was interrupted."""
    chains, draws = data.draws.chains, data.draws.draws
    text = f"{chains} chains of " if chains > 1 else "one chain of "
    text += counted(draws, "draw")
    goal = goal_of(data.draws.attributes)
    if (chains, draws) == (settings["chains"], goal):
        return text
    left_out = [str(chain + 1) for chain in data.draws.attributes.get("left_out_chains", ())]
    if left_out:
        return f"{text} (without chain {', '.join(left_out)}, whose files are damaged)"
    requested = f"{counted(settings['chains'], 'chain')} of {goal}"
    return f"{text} (interrupted before the requested {requested} were complete)"


def _as_text(value: Any) -> str:
    """Return a value as one line of text; a long list of numbers as its length and range."""
    if isinstance(value, list) and len(value) > 8 and all(isinstance(part, float) for part in value):
        return f"{len(value)} numbers from {np.min(value):.3g} to {np.max(value):.3g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_as_text(part)}" for name, part in value.items())
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
