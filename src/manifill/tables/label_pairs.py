"""Cells to predict: a table with a column of row labels and a column of column labels."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from manifill.base.arrays import Array
from manifill.tables.column_parsing import labels_as
from manifill.tables.input_file import TABLE_EXTENSIONS, find_input_file
from manifill.tables.message_text import display_name
from manifill.tables.missing_codes import MissingCodes
from manifill.tables.raw_table import RawTable
from manifill.tables.table_layout import Layout
from manifill.tables.table_reader import open_table

__all__ = ["Pairs", "read_pairs"]


class Pairs(NamedTuple):
    """The cells in a file."""

    rows: Array  # the row label of each line, of the kind in the layout
    cols: Array
    frame: Any  # the file as a DataFrame, to add predictions to; unconverted text, except the labels
    notes: tuple[str, ...]
    location: Callable[[int], str]  # where a record is in the file, for example line 3


def read_pairs(path: str | os.PathLike[str], layout: Layout, *, max_bytes: int | None = None) -> Pairs:
    """Return the pairs of labels in a table; their columns have the names in the layout, or are the first ones.

    ``max_bytes`` limits what a compressed file may unpack to, as in ``read_table``.
    """
    raw = open_table(find_input_file(path, TABLE_EXTENSIONS, max_bytes), MissingCodes())
    row, col = _label_columns(raw, layout)
    frame = raw.original()
    rows, cols = labels_as((layout.row_labels, layout.column_labels), raw, (row, col))
    frame[row], frame[col] = rows, cols
    notes = (
        ()
        if (row, col) == (layout.row, layout.col)
        else (f"rows are {display_name(row)}, columns are {display_name(col)}",)
    )
    return Pairs(rows, cols, frame, (*raw.notes, *notes), raw.location)


def _label_columns(raw: RawTable, layout: Layout) -> tuple[str, str]:
    names: list[str] = list(raw.columns)
    if len(names) < 2:
        raise ValueError(f"{raw.file} has a single column; give one of row labels and one of column labels.")
    others = iter([name for name in names if name not in (layout.row, layout.col)])
    row = layout.row if layout.row is not None and layout.row in names else next(others)
    col = layout.col if layout.col is not None and layout.col in names else next(others)
    return row, col
