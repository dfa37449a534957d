"""Long tables: one line a cell."""

import numpy as np
import pandas as pd

from manifill.problem import Duplicates, Observations
from manifill.tables.columns import Kind, Labels, labels_in, numbers_in
from manifill.tables.dialect import is_number
from manifill.tables.guess import Roles, find_roles
from manifill.tables.layout import Layout, Table
from manifill.tables.sheet import Sheet
from manifill.tables.words import are, counted, listed, shown
from manifill.types import Array, IntVector

__all__ = ["read_long"]


def read_long(sheet: Sheet, kinds: dict[str, Kind], given: Roles, duplicates: Duplicates) -> Table:
    """Return the cells of a long table; the columns that are not given are guessed.

    A line without a value names a row and a column of the matrix, and a cell that is not observed.
    """
    row, col, value = _complete(sheet, kinds, given)
    labels = labels_in(sheet, row), labels_in(sheet, col)
    values = numbers_in(sheet, value)
    observed = np.flatnonzero(~np.isnan(values))
    if not observed.size:
        raise ValueError(f"{sheet.file} has no numbers in the column {value!r}; give at least one observed cell.")
    (rows, row_labels), (cols, column_labels) = map(_numbered, labels)
    if duplicates == "error":
        _check_cells(sheet, labels, rows[observed] * len(column_labels) + cols[observed], observed)
    layout = Layout(
        kind="long",
        row=row,
        col=col,
        value=value,
        row_labels=labels[0].kind,
        column_labels=labels[1].kind,
        left_out=tuple(name for name in sheet.frame if name not in (row, col, value)),
        guessed=None in given,
    )
    observations = Observations.from_triples(
        rows[observed],
        cols[observed],
        values[observed],
        (len(row_labels), len(column_labels)),
        row_labels=row_labels,
        column_labels=column_labels,
        duplicates=duplicates,
    )
    return Table(observations, layout, (*sheet.said, *_said(layout, len(values) - len(observed))))


def _complete(sheet: Sheet, kinds: dict[str, Kind], given: Roles) -> tuple[str, str, str]:
    row, col, value = find_roles(sheet, kinds, given)
    if row is None or col is None or value is None:
        unknown = [name for name, found in (("row", row), ("col", col), ("value", value)) if found is None]
        raise ValueError(
            f"{sheet.file} has no clear {listed(unknown)} for a long table; "
            f"choose among its columns, which are {listed(list(sheet.frame))}."
        )
    if given.value is None and sheet.header and is_number(value) and not is_number(row):
        raise ValueError(
            f"the first line of {sheet.file} ({listed([row, col, value])}) looks like data; "
            "put a line of column names above it."
        )
    return row, col, value


def _numbered(labels: Labels) -> tuple[IntVector, Array]:
    """Return the number of each label, and the labels in sorted order."""
    codes, unique = pd.factorize(labels.values, sort=True)
    return codes, np.asarray(unique, dtype=np.int64 if labels.kind == "integer" else np.str_)


def _check_cells(sheet: Sheet, labels: tuple[Labels, Labels], cells: IntVector, records: IntVector) -> None:
    again = pd.Series(cells).duplicated().to_numpy()
    if again.any():
        second = int(np.argmax(again))
        first = int(np.argmax(cells == cells[second]))
        row, col = (str(part.values[records[second]]) for part in labels)
        raise ValueError(
            f"{sheet.place(int(records[first]))} and {sheet.place(int(records[second]))} of {sheet.file} both give the "
            f"cell (row {row}, column {col}); drop one, or pass duplicates='average' to take the mean of such values."
        )


def _said(layout: Layout, missing: int) -> list[str]:
    said = []
    if layout.guessed:
        row, col, value = (shown(name) for name in (layout.row, layout.col, layout.value) if name is not None)
        left = f" ({listed(layout.left_out)} {are(layout.left_out)} left out)" if layout.left_out else ""
        said.append(f"long table: rows are {row}, columns are {col}, values are {value}{left}")
    if missing:
        are_cells = "is a cell" if missing == 1 else "are cells"
        said.append(f"{counted(missing, 'line')} without a value {are_cells} not observed")
    return said
