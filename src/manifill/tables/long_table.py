"""Long tables: one line per cell."""

import numpy as np
import pandas as pd

from manifill.base import progress
from manifill.base.argument_words import Argument, Wording, joined
from manifill.base.arrays import IntVector
from manifill.problem import Duplicates, Observations
from manifill.tables.column_parsing import Labels, label_array, labels_in, numbers_in
from manifill.tables.column_roles import Roles, find_roles
from manifill.tables.csv_dialect import is_number
from manifill.tables.message_text import counted, display_name, is_or_are, listed, quoted, shown
from manifill.tables.raw_table import RawTable
from manifill.tables.size_limit import BYTES_PER_CELL, check_memory
from manifill.tables.table_layout import Layout, Table

__all__ = ["read_long"]

SECONDS_PER_RECORD = 1.5e-7  # that the search for duplicates takes; a guess


def read_long(raw: RawTable, given: Roles, duplicates: Duplicates) -> Table:
    """Return the cells of a long table; the columns that are not given are inferred.

    A line without a value is an unobserved cell, whose row and column are part of the matrix.
    """
    row, col, value = _require_roles(raw, given)
    check_memory(raw.file, f"{raw.records} cells", raw.records * BYTES_PER_CELL)
    values = numbers_in(raw, value)
    rows, cols = labels_in(raw, [row, col])  # the last pass over the file
    observed = np.flatnonzero(~np.isnan(values))
    if not observed.size:
        raise ValueError(f"{raw.file} has no numbers in the column {quoted(value)}; give at least one observed cell.")
    if duplicates == "error":
        progress.begin("looking for duplicates", guess=SECONDS_PER_RECORD * observed.size)
        _check_cells(raw, rows, cols, observed)
    layout = Layout(
        kind="long",
        row=row,
        col=col,
        value=value,
        row_labels=rows.kind,
        column_labels=cols.kind,
        left_out=tuple(name for name in raw.columns if name not in (row, col, value)),
        guessed=None in given,
    )
    observations = Observations.from_triples(
        rows.codes[observed],
        cols.codes[observed],
        values[observed],
        (len(rows.distinct), len(cols.distinct)),
        row_labels=label_array(raw, rows),
        column_labels=label_array(raw, cols),
        duplicates=duplicates,
    )
    return Table(observations, layout, (*raw.notes, *_notes(layout, len(values) - len(observed))))


def _require_roles(raw: RawTable, given: Roles) -> tuple[str, str, str]:
    row, col, value = find_roles(raw, given)
    if row is None or col is None or value is None:
        unknown = [name for name, found in (("row", row), ("col", col), ("value", value)) if found is None]
        raise ValueError(
            Wording(
                "the ",
                *joined([Argument(name) for name in unknown]),
                f" of the long table {raw.file} cannot be inferred; "
                f"choose from its columns, which are {listed(list(raw.columns))}.",
            )
        )
    if given.value is None and raw.header and is_number(value) and not is_number(row):
        raise ValueError(
            f"the first line of {raw.file} ({listed([row, col, value])}) looks like data; "
            "add a line of column names above it."
        )
    return row, col, value


def _check_cells(raw: RawTable, rows: Labels, cols: Labels, records: IntVector) -> None:
    """Raise a ValueError if a pair of labels occurs twice among the records."""
    cells = rows.codes[records].astype(np.int64) * len(cols.distinct) + cols.codes[records]
    if not (np.diff(np.sort(cells)) == 0).any():
        return
    second = int(np.argmax(pd.Series(cells).duplicated().to_numpy()))
    first = int(records[np.argmax(cells == cells[second])])
    second = int(records[second])
    raise ValueError(
        Wording(
            f"{raw.location(first)} and {raw.location(second)} of {raw.file} both contain the cell "
            f"(row {shown(rows.at(first))}, column {shown(cols.at(first))}); remove one, or pass ",
            Argument("duplicates", "average"),
            " to average them.",
        )
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
