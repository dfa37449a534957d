"""What was made of a file: which of its columns name rows and columns, and which hold the values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from manifill.problem import Observations

__all__ = ["LabelKind", "Layout", "Table"]

LabelKind = Literal["integer", "text"]


@dataclass(frozen=True)
class Layout:
    """How a file was read, for those who read another file that speaks of the same rows and columns.

    ``dataclasses.asdict`` makes plain JSON of it, and ``from_json`` reads that back.
    """

    kind: Literal["long", "wide"]  # one line a cell, or one line a row
    row: str | None = None  # the column of row labels; None where rows are numbered from 0
    col: str | None = None  # long: the column of column labels; None where the header holds them, or they are numbers
    value: str | None = None  # long: the column of values
    row_labels: LabelKind = "integer"
    column_labels: LabelKind = "integer"
    left_out: tuple[str, ...] = ()
    guessed: bool = False  # whether any of this was guessed from the file

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Layout":
        """Return the layout whose ``asdict`` this is; JSON has lists where it has tuples."""
        return cls(**{**fields, "left_out": tuple(fields["left_out"])})


class Table(NamedTuple):
    """A file that was read.

    ``said`` holds a sentence for each thing that was guessed or left out.  The observations have labels where the file
    has names for rows or columns, and none (they are numbered from 0) where it has not.
    """

    observations: Observations
    layout: Layout
    said: tuple[str, ...]
