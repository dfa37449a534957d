"""Long tables: one line per cell."""

import numpy as np
import pandas as pd

from manifill.base.arrays import Array, IntVector
from manifill.problem import Duplicates, Observations
from manifill.tables.column_parsing import ColumnKind, Labels, labels_in, numbers_in
from manifill.tables.column_roles import Roles, find_roles
from manifill.tables.csv_dialect import is_number
from manifill.tables.message_text import counted, display_name, is_or_are, listed
from manifill.tables.raw_table import RawTable
from manifill.tables.table_layout import Layout, Table

__all__ = ["read_long"]


def read_long(raw: RawTable, kinds: dict[str, ColumnKind], given: Roles, duplicates: Duplicates) -> Table:
    """Return the cells of a long table; the columns that are not given are inferred.

    A line without a value is an unobserved cell, whose row and column are part of the matrix.
    """
    row, col, value = _require_roles(raw, kinds, given)
    labels = labels_in(raw, row), labels_in(raw, col)
    values = numbers_in(raw, value)
    observed = np.flatnonzero(~np.isnan(values))
    if not observed.size:
        raise ValueError(f"{raw.file} has no numbers in the column {value!r}; give at least one observed cell.")
    (rows, row_labels), (cols, column_labels) = map(_index_labels, labels)
    if duplicates == "error":
        _check_cells(raw, labels, rows[observed] * len(column_labels) + cols[observed], observed)
    layout = Layout(
        kind="long",
        row=row,
        col=col,
        value=value,
        row_labels=labels[0].kind,
        column_labels=labels[1].kind,
        left_out=tuple(name for name in raw.frame if name not in (row, col, value)),
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
    return Table(observations, layout, (*raw.notes, *_notes(layout, len(values) - len(observed))))


def _require_roles(raw: RawTable, kinds: dict[str, ColumnKind], given: Roles) -> tuple[str, str, str]:
    row, col, value = find_roles(raw, kinds, given)
    if row is None or col is None or value is None:
        unknown = [name for name, found in (("row", row), ("col", col), ("value", value)) if found is None]
        raise ValueError(
            f"the {listed(unknown)} of the long table {raw.file} cannot be inferred; "
            f"choose from its columns, which are {listed(list(raw.frame))}."
        )
    if given.value is None and raw.header and is_number(value) and not is_number(row):
        raise ValueError(
            f"the first line of {raw.file} ({listed([row, col, value])}) looks like data; "
            "add a line of column names above it."
        )
    return row, col, value


def _index_labels(labels: Labels) -> tuple[IntVector, Array]:
    """Return the index of each label among the sorted distinct labels, and these labels."""
    codes, unique = pd.factorize(labels.values, sort=True)
    return codes, np.asarray(unique, dtype=np.int64 if labels.kind == "integer" else np.str_)


def _check_cells(raw: RawTable, labels: tuple[Labels, Labels], cells: IntVector, records: IntVector) -> None:
    repeated = pd.Series(cells).duplicated().to_numpy()
    if repeated.any():
        second = int(np.argmax(repeated))
        first = int(np.argmax(cells == cells[second]))
        row, col = (str(part.values[records[second]]) for part in labels)
        raise ValueError(
            f"{raw.location(int(records[first]))} and {raw.location(int(records[second]))} of {raw.file} both "
            f"contain the cell (row {row}, column {col}); remove one, or pass duplicates='average' to average them."
        )


def _notes(layout: Layout, missing: int) -> list[str]:
    notes = []
    if layout.guessed:
        row, col, value = (display_name(name) for name in (layout.row, layout.col, layout.value) if name is not None)
        left = f" ({listed(layout.left_out)} {is_or_are(layout.left_out)} left out)" if layout.left_out else ""
        notes.append(f"long table: rows are {row}, columns are {col}, values are {value}{left}")
    if missing:
        unobserved = "has no value; its cell is" if missing == 1 else "have no value; their cells are"
        notes.append(f"{counted(missing, 'line')} {unobserved} not observed")
    return notes
