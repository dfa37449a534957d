"""How a file was interpreted: which of its columns contain row labels, column labels and values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from manifill.problem import Observations

__all__ = ["LabelKind", "Layout", "Table"]

LabelKind = Literal["integer", "text"]


@dataclass(frozen=True)
class Layout:
    """How a file was interpreted, to read another file with the same rows and columns.

    ``dataclasses.asdict`` makes it plain JSON, and ``from_json`` is the inverse.
    """

    kind: Literal["long", "wide"]  # one line per cell, or one line per row
    row: str | None = None  # the column of row labels; None if rows are numbered from 0
    col: str | None = None  # long: the column of column labels; None if they are in the header, or numbered from 0
    value: str | None = None  # long: the column of values
    row_labels: LabelKind = "integer"
    column_labels: LabelKind = "integer"
    left_out: tuple[str, ...] = ()
    guessed: bool = False  # whether any of this was inferred from the file
    missing: tuple[str, ...] = ()  # codes for missing entries that were named

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Layout":
        """Return the layout with these fields; JSON has lists instead of tuples, and older runs have fewer fields."""
        try:
            made: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
            }
            layout = cls(**made)
        except (AttributeError, TypeError) as error:
            raise ValueError(f"the layout of the table cannot be read: {error}.") from None
        for name, is_valid in VALID_FIELDS.items():
            value = getattr(layout, name)
            if not is_valid(value):
                raise ValueError(f"the layout of the table cannot be read: its {name} is {value!r}.")
        return layout


def _is_name(value: object) -> bool:
    return value is None or isinstance(value, str)


def _are_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) for name in value)


VALID_FIELDS: dict[str, Callable[[Any], bool]] = {
    "kind": ("long", "wide").__contains__,
    "row": _is_name,
    "col": _is_name,
    "value": _is_name,
    "row_labels": ("integer", "text").__contains__,
    "column_labels": ("integer", "text").__contains__,
    "left_out": _are_names,
    "guessed": (False, True).__contains__,
    "missing": _are_names,
}


class Table(NamedTuple):
    """The contents of a file.

    ``notes`` contains a sentence for each thing that was inferred or left out.  The observations have labels if the
    file does, and the numbers in a Matrix Market file count from 1; otherwise rows or columns are numbered from 0.
    """

    observations: Observations
    layout: Layout
    notes: tuple[str, ...]
