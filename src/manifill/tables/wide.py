"""Wide tables: one line a row of the matrix."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from manifill.problem import Observations
from manifill.tables.columns import Kind, labels_in, numbers_in
from manifill.tables.dialect import WHOLE
from manifill.tables.guess import guess_id
from manifill.tables.layout import LabelKind, Layout, Table
from manifill.tables.names import is_id
from manifill.tables.sheet import Sheet
from manifill.tables.words import are, counted, listed, shown
from manifill.types import Array

__all__ = ["read_wide"]


class _Columns(NamedTuple):
    id: str | None
    data: list[str]
    texts: list[str]  # left out, since they are no numbers
    ids: list[str]  # left out, since their numbers measure nothing


def read_wide(sheet: Sheet, kinds: dict[str, Kind], id_column: str | None) -> Table:
    """Return the cells of a wide table; the column that names its rows is guessed if it is not given."""
    columns = _sorted_out(kinds, id_column if id_column is not None else guess_id(sheet, kinds))
    if not columns.data:
        raise ValueError(_no_numbers(sheet))
    matrix = np.column_stack([numbers_in(sheet, name) for name in columns.data])
    rows, cols = np.nonzero(~np.isnan(matrix))
    if not rows.size:
        raise ValueError(_no_numbers(sheet))
    row_labels = None if columns.id is None else _row_labels(sheet, columns.id)
    numbered = not sheet.header and len(columns.data) == len(kinds)
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
    return Table(observations, layout, (*sheet.said, *_said(columns, matrix.shape, guessed=layout.guessed)))


def _sorted_out(kinds: dict[str, Kind], id_column: str | None) -> _Columns:
    others = [name for name in kinds if name != id_column]
    texts = [name for name in others if kinds[name] == "text"]
    ids = [name for name in others if kinds[name] != "text" and is_id(name)]
    return _Columns(id_column, [name for name in others if name not in (*texts, *ids)], texts, ids)


def _no_numbers(sheet: Sheet) -> str:
    return (
        f"{sheet.file} holds no numbers to complete; its columns are {listed(list(sheet.frame))}: "
        "give one column or more of numbers, empty where missing."
    )


def _row_labels(sheet: Sheet, name: str) -> Array:
    labels = labels_in(sheet, name)
    again = pd.Series(labels.values).duplicated().to_numpy()
    if again.any():
        second = int(np.argmax(again))
        first = int(np.argmax(labels.values == labels.values[second]))
        raise ValueError(
            f"{sheet.place(first)} and {sheet.place(second)} of {sheet.file} both name their row "
            f"{labels.values[second]} in the column {shown(name)}; make names distinct, or choose another id_column."
        )
    return labels.values if labels.kind == "integer" else labels.values.astype(np.str_)


def _column_labels(names: list[str]) -> Array:
    if all(WHOLE.fullmatch(name) for name in names):
        return np.array([int(name) for name in names], dtype=np.int64)
    return np.array(names, dtype=np.str_)


def _kind_of(labels: Array | None) -> LabelKind:
    return "text" if labels is not None and labels.dtype.kind == "U" else "integer"


def _said(columns: _Columns, shape: tuple[int, int], *, guessed: bool) -> list[str]:
    """Return one sentence, or none where everything was given and nothing is left out."""
    parts = []
    if guessed:
        by = "numbered from 0" if columns.id is None else f"named by {shown(columns.id)}"
        parts.append(f"wide table: {counted(shape[0], 'row')} {by}, {counted(shape[1], 'column')}")
    for names, one, many in ((columns.texts, "not a number", "not numbers"), (columns.ids, "an id", "ids")):
        if names:
            what = one if len(names) == 1 else many
            parts.append(f"{listed(names)} {are(names)} {what} and {are(names)} left out")
    return ["; ".join(parts)] if parts else []
