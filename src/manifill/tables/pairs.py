"""Cells to predict: a file with a column of row labels and a column of column labels."""

import os
from typing import Any, NamedTuple

from manifill.tables.columns import labels_as
from manifill.tables.files import FRAMES, open_file
from manifill.tables.layout import Layout
from manifill.tables.read import open_sheet
from manifill.tables.sheet import Sheet
from manifill.tables.words import shown
from manifill.types import Array

__all__ = ["Pairs", "read_pairs"]


class Pairs(NamedTuple):
    """The cells that a file asks for."""

    rows: Array  # a row label for each line, of the kind that the layout says
    cols: Array
    frame: Any  # the file as a DataFrame, to put predictions beside; text as it stands, but for the labels
    said: tuple[str, ...]


def read_pairs(path: str | os.PathLike[str], layout: Layout) -> Pairs:
    """Return the pairs of labels in a table, in columns named as in the file of the fit, or else in the first ones."""
    sheet = open_sheet(open_file(path, FRAMES))
    row, col = _chosen(sheet, layout)
    rows, cols = labels_as(layout.row_labels, sheet, row), labels_as(layout.column_labels, sheet, col)
    frame = sheet.original()
    frame[row], frame[col] = rows, cols
    said = () if (row, col) == (layout.row, layout.col) else (f"rows are {shown(row)}, columns are {shown(col)}",)
    return Pairs(rows, cols, frame, (*sheet.said, *said))


def _chosen(sheet: Sheet, layout: Layout) -> tuple[str, str]:
    names: list[str] = list(sheet.frame)
    if len(names) < 2:
        raise ValueError(f"{sheet.file} has a single column; give one of row labels and one of column labels.")
    others = iter([name for name in names if name not in (layout.row, layout.col)])
    row = layout.row if layout.row is not None and layout.row in names else next(others)
    col = layout.col if layout.col is not None and layout.col in names else next(others)
    return row, col
