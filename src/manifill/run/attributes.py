"""The attributes of a run's store: their types, checked when a run is opened."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NamedTuple

from manifill.base.errors import Damage, DamagedRunError
from manifill.posterior.store_layout import METADATA
from manifill.problem.column_units import ColumnUnits
from manifill.run.draw_rule import AUTO
from manifill.run.folder import RunFolder

__all__ = ["GOAL", "check_attributes", "goal_of"]

# The attribute with the draws per chain that a run is to have; with fewer, it was interrupted.  Runs whose number of
# draws was given by the user, in earlier versions, have it in their settings only.
GOAL = "goal_draws"


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0.0 <= value < 1.0


def _is_shape(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_count(size) for size in value)


def _are_scales(value: Any) -> bool:
    return isinstance(value, list) and all(
        type(scale) in (int, float) and isfinite(scale) and scale > 0 for scale in value
    )


def _is_transform(value: Any) -> bool:
    """Return whether a value has the parameters of all columns."""
    if not isinstance(value, dict) or {*value, "limit"} != set(ColumnUnits._fields):  # earlier runs have no limit
        return False
    columns = list(value.values())
    if not all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns):
        return False
    are_numbers = all(type(number) in (int, float) and isfinite(number) for column in columns for number in column)
    return are_numbers and all(_are_scales(value.get(name, [])) for name in ("scale", "tail_weight", "limit"))


def _are_versions(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(version, str) for version in value.values())


def _is_held_out(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, dict) and _is_count(value.get("cells")) and _is_text(value.get("fingerprint"))


def _are_settings(value: Any) -> bool:
    if not isinstance(value, dict) or "likelihood" not in value:
        return False
    counts = {"chains": value.get("chains")} | {
        name: value.get(name) for name in ("warmup", "draws") if value.get(name) != AUTO
    }
    return all(map(_is_count, counts.values()))


def _is_layout(value: Any) -> bool:
    """Return whether a value may say how a table was read; ``tables`` knows its fields."""
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str | None) for name in LAYOUT_NAMES):
        return False
    left_out = value.get("left_out", [])
    return isinstance(left_out, list) and all(isinstance(name, str) for name in left_out)


LAYOUT_NAMES = ("kind", "row", "col", "value", "row_labels", "column_labels")


class Rule(NamedTuple):
    """What an attribute must be."""

    holds: Callable[[Any], bool]
    description: str


NEEDED = {"settings": Rule(_are_settings, "the settings of a fit"), "seed": Rule(_is_count, "a whole number")}
FOR_RESUMING = {
    "fingerprint": Rule(_is_text, "text"),
    "shape": Rule(_is_shape, "two whole numbers"),
    "observed_cells": Rule(_is_count, "a whole number"),
    "held_out": Rule(_is_held_out, "null, or a number of cells and their fingerprint"),
}
OPTIONAL = {
    GOAL: Rule(_is_count, "a whole number"),
    "column_scales": Rule(_are_scales, "positive numbers"),
    "column_transform": Rule(_is_transform, "the parameters of a transform of each column"),
    "versions": Rule(_are_versions, "names and versions"),
    "file": Rule(_is_text, "text"),
    "holdout": Rule(_is_share, "a fraction"),
    "layout": Rule(_is_layout, "the layout of a table"),
}


def check_attributes(run: RunFolder, attributes: Mapping[str, Any], *, to_resume: bool = False) -> None:
    """Raise a DamagedRunError if an attribute is missing or of a wrong type; ``Resolved`` checks the model itself."""
    needed = NEEDED | (FOR_RESUMING if to_resume else {})
    if _chooses_draws(attributes):
        needed = needed | {GOAL: OPTIONAL[GOAL]}
    for name, rule in (needed | FOR_RESUMING | OPTIONAL).items():
        if name not in attributes and name not in needed:
            continue
        if name not in attributes:
            problem = f"it has no attribute {name!r}"
        elif not rule.holds(attributes[name]):
            problem = f"its attribute {name!r} must be {rule.description}, not {_shortened(attributes[name])}"
        else:
            continue
        raise DamagedRunError.of([Damage(run.draws / METADATA, f"is damaged: {problem}")])


def goal_of(attributes: Mapping[str, Any]) -> int:
    """Return the draws per chain that a run is to have."""
    return int(attributes.get(GOAL, attributes["settings"]["draws"]))


def _chooses_draws(attributes: Mapping[str, Any]) -> bool:
    settings = attributes.get("settings")
    return isinstance(settings, dict) and settings.get("draws") == AUTO


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
