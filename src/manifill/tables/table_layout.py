"""How a file was interpreted: which of its columns contain row labels, column labels and values."""

from collections.abc import Mapping
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

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Layout":
        """Return the layout with these fields; JSON has lists instead of tuples."""
        return cls(**{**fields, "left_out": tuple(fields["left_out"])})


class Table(NamedTuple):
    """The contents of a file.

    ``notes`` contains a sentence for each thing that was inferred or left out.  The observations have labels if the
    file does; otherwise rows or columns are numbered from 0.
    """

    observations: Observations
    layout: Layout
    notes: tuple[str, ...]
