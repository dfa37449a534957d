"""Wide tables: one line per row of the matrix."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Array
from manifill.problem import Observations
from manifill.tables.column_names import is_id
from manifill.tables.column_parsing import label_array, labels_in, numbers_in
from manifill.tables.column_roles import guess_id
from manifill.tables.csv_dialect import CANONICAL_INTEGER
from manifill.tables.message_text import counted, display_name, is_or_are, listed, shown
from manifill.tables.raw_table import RawTable
from manifill.tables.size_limit import BYTES_PER_CELL, check_memory
from manifill.tables.table_layout import LabelKind, Layout, Table

__all__ = ["read_wide"]


class _Columns(NamedTuple):
    id: str | None
    data: list[str]
    texts: list[str]  # left out because they are not numbers
    ids: list[str]  # left out because their numbers are not measurements


def read_wide(raw: RawTable, id_column: str | None) -> Table:
    """Return the cells of a wide table; the column of row labels is inferred if it is not given."""
    columns = _sort_columns(raw, id_column if id_column is not None else guess_id(raw))
    if not columns.data:
        raise ValueError(_no_numbers(raw))
    cells = raw.records * len(columns.data)
    check_memory(raw.file, f"{cells} cells", cells * BYTES_PER_CELL)
    matrix = np.column_stack([numbers_in(raw, name) for name in columns.data])
    rows, cols = np.nonzero(~np.isnan(matrix))
    if not rows.size:
        raise ValueError(_no_numbers(raw))
    if columns.id is None:
        raw.end_reading()
    row_labels = None if columns.id is None else _row_labels(raw, columns.id)
    numbered = not raw.header and len(columns.data) == len(raw.columns)
    column_labels = None if numbered else _column_labels(columns.data)
    observations = Observations.from_triples(
        rows, cols, matrix[rows, cols], matrix.shape, row_labels=row_labels, column_labels=column_labels
    )
    layout = Layout(
        kind="wide",
        row=columns.id,
        row_labels=_kind_of(row_labels),
        column_labels=_kind_of(column_labels),
        left_out=(*columns.texts, *columns.ids),
        guessed=id_column is None,
    )
    return Table(observations, layout, (*raw.notes, *_notes(columns, matrix.shape, guessed=layout.guessed)))


def _sort_columns(raw: RawTable, id_column: str | None) -> _Columns:
    others = [name for name in raw.columns if name != id_column]
    texts = [name for name in others if raw.columns[name].kind == "text"]
    ids = [name for name in others if raw.columns[name].kind != "text" and is_id(name)]
    return _Columns(id_column, [name for name in others if name not in {*texts, *ids}], texts, ids)


def _no_numbers(raw: RawTable) -> str:
    return (
        f"{raw.file} contains no numbers to complete; its columns are {listed(list(raw.columns))}: "
        "give at least one column of numbers, with missing entries left empty."
    )


def _row_labels(raw: RawTable, name: str) -> Array:
    (labels,) = labels_in(raw, [name])
    repeated = pd.Series(labels.codes).duplicated().to_numpy()
    if repeated.any():
        second = int(np.argmax(repeated))
        first = int(np.argmax(labels.codes == labels.codes[second]))
        raise ValueError(
            Wording(
                f"{raw.location(first)} and {raw.location(second)} of {raw.file} both have the row label "
                f"{shown(labels.at(second))} in the column {display_name(name)}; make labels unique, or give another "
                "column as ",
                Argument("id_column"),
                ".",
            )
        )
    return label_array(raw, labels)[labels.codes]


def _column_labels(names: list[str]) -> Array:
    if all(CANONICAL_INTEGER.fullmatch(name) for name in names):
        return np.array([int(name) for name in names], dtype=np.int64)
    return np.array(names, dtype=np.str_)


def _kind_of(labels: Array | None) -> LabelKind:
    return "text" if labels is not None and labels.dtype.kind == "U" else "integer"


def _notes(columns: _Columns, shape: tuple[int, int], *, guessed: bool) -> list[str]:
    """Return one sentence, or none if everything was given and nothing is left out."""
    parts = []
    if guessed:
        by = "numbered from 0" if columns.id is None else f"named by {display_name(columns.id)}"
        parts.append(f"wide table: {counted(shape[0], 'row')} {by}, {counted(shape[1], 'column')}")
    for names, one, many in ((columns.texts, "not a number", "not numbers"), (columns.ids, "an id", "ids")):
        if names:
            what = one if len(names) == 1 else many
            parts.append(f"{listed(names)} {is_or_are(names)} {what} and {is_or_are(names)} left out")
    return ["; ".join(parts)] if parts else []
