"""Rows, columns and cells as messages, reports and diagnostics name them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from manifill.base.arrays import Array, IntVector
from manifill.base.wording import shortened

__all__ = ["CellNames", "as_text", "label_text"]

LONGEST = 40  # characters of a label, so that two of them leave room for a sentence


def as_text(label: Any) -> str:
    """Return a label as text, a date without the zeros of its time."""
    return np.datetime_as_string(label, unit="auto") if isinstance(label, np.datetime64) else str(label)


def label_text(label: Any) -> str:
    """Return a label for a sentence: on one line, and in quotation marks if it would be misread without."""
    text = as_text(label)
    is_plain = text.isprintable() and text == text.strip() != "" and "," not in text
    return shortened(text if is_plain else repr(text), LONGEST)


class CellNames(NamedTuple):
    """What the rows and columns of a matrix are called, for example user and film, and their labels."""

    row: str = "row"
    column: str = "column"
    row_labels: Array | None = None  # (m,); None if rows are numbered from 0
    column_labels: Array | None = None  # (n,)

    def cell(self, row: int, column: int) -> str:
        """Return the name of one cell, such as 'user 414, film 318'."""
        row_label = row if self.row_labels is None else self.row_labels[row]
        column_label = column if self.column_labels is None else self.column_labels[column]
        return f"{_named(self.row, row_label)}, {_named(self.column, column_label)}"

    def cells(self, rows: IntVector, cols: IntVector) -> Sequence[str]:
        """Return distinct names of some cells; with their indices if labels look alike, such as 1 and '1'."""
        names = [self.cell(int(i), int(j)) for i, j in zip(rows, cols, strict=True)]
        return _distinct(names, [f"{i}, {j}" for i, j in zip(rows, cols, strict=True)])

    def levels(self, side: str, index: IntVector) -> Sequence[str]:
        """Return distinct names of some rows or columns, as ``side`` says, such as 'film 318'."""
        name, labels = (self.row, self.row_labels) if side == "row" else (self.column, self.column_labels)
        names = [_named(name, k if labels is None else labels[k]) for k in index]
        return _distinct(names, [str(k) for k in index])


def _distinct(names: Sequence[str], indices: Sequence[str]) -> Sequence[str]:
    if len(set(names)) == len(names):
        return names
    return [f"{name} (index {index})" for name, index in zip(names, indices, strict=True)]


def _named(name: str, label: Any) -> str:
    """Return a label after what it is a label of, unless it starts with that itself, as in 'station 7'."""
    text = label_text(label)
    return text if as_text(label).lower().startswith(name.lower()) else f"{label_text(name)} {text}"
