"""Infers the roles of columns: row labels, column labels and values of a long table, row labels of a wide one.

A guess must be safe, since a long table that is read as wide, or the reverse, is fitted without an error.  A table is
taken for long only if its columns say so: two columns of labels that repeat and one of numbers, where whole numbers
are labels only if they are named or laid out like ids.
"""

from typing import NamedTuple

from manifill.base.argument_words import Argument, Wording
from manifill.tables.column_names import (
    is_column_name,
    is_label_name,
    is_period_name,
    is_row_name,
    is_time_name,
    is_value_name,
)
from manifill.tables.grid_order import is_laid_out
from manifill.tables.message_text import display_name, listed
from manifill.tables.raw_column import RawColumn
from manifill.tables.raw_table import RawTable

__all__ = ["Roles", "find_roles", "guess_id", "guess_roles"]

Columns = dict[str, RawColumn]


class Roles(NamedTuple):
    """The three columns of a long table; None for one that is unknown."""

    row: str | None = None
    col: str | None = None
    value: str | None = None


def find_roles(raw: RawTable, given: Roles) -> Roles:
    """Return the columns of a long table; those that are not given are inferred from names, or else from contents.

    By contents, rows and columns are two columns of labels, text rather than integers and in the order of the file, and
    values are the only remaining column of numbers.
    """
    columns = _without_index(raw)
    named = _by_names(columns, given)
    labels = iter(_labels(columns, named))
    row = named.row if named.row is not None else next(labels, None)
    col = named.col if named.col is not None else next(labels, None)
    values = _numbers(columns, (row, col)) if named.value is None else [named.value]
    return Roles(row, col, values[0] if len(values) == 1 else None)


def _without_index(raw: RawTable) -> Columns:
    """Return the columns without an index of distinct integers, which pandas writes by default.

    Distinct integers cannot be the row labels of a long table, in which labels repeat.
    """
    columns = dict(raw.columns)
    index = raw.index
    if index is not None and columns[index].is_integer and columns[index].is_unique:
        del columns[index]
    return columns


def _by_names(columns: Columns, given: Roles) -> Roles:
    free = [name for name in columns if name not in given]
    row, col, value = given
    if row is None:
        row = next(filter(is_row_name, free), None)
    if col is None:
        col = next(filter(is_column_name, free), None)
    if value is None:
        value = next((name for name in free if is_value_name(name) and columns[name].kind != "text"), None)
    return Roles(row, col, value)


def _labels(columns: Columns, taken: Roles) -> list[str]:
    """Return the columns that are most like labels, as many as are not taken, in the order of the file.

    Text comes before integers that are named like ids, and these before other integers; times are not labels.
    """
    free = [name for name in columns if name not in taken and not is_time_name(name) and columns[name].can_be_labels]
    ranked = sorted(free, key=lambda name: (columns[name].kind != "text", not _is_named_as_label(name)))
    chosen = ranked[: (taken.row, taken.col).count(None)]
    return [name for name in free if name in chosen]


def _is_named_as_label(name: str) -> bool:
    return is_label_name(name) or is_column_name(name) or is_period_name(name)


def _numbers(columns: Columns, taken: tuple[str | None, ...]) -> list[str]:
    """Return the columns that can be values: numbers, except times."""
    return [
        name
        for name, column in columns.items()
        if column.kind != "text" and name not in taken and not is_time_name(name)
    ]


def guess_roles(raw: RawTable) -> Roles | None:
    """Return the columns of a long table, or None if the table is wide."""
    columns = _without_index(raw)
    named = _by_names(columns, Roles())
    if None not in named:
        return named
    labels_named = named.row is not None and named.col is not None
    if not labels_named and len(_numbers(columns, ())) > 3:
        return None
    row, col, value = found = find_roles(raw, Roles())
    if row is None or col is None or not (columns[row].repeats and columns[col].repeats):
        return None
    if value is None:
        if labels_named:
            raise ValueError(_no_value(raw, row, col, _numbers(columns, (row, col))))
        return None
    if _numbers(columns, found):  # a long table has one column of numbers
        return None
    return found if _are_labels(raw, row, col) else None


def _are_labels(raw: RawTable, row: str, col: str) -> bool:
    """Whether two columns are labels, not measurements: text, or integers that are named or laid out like ids."""
    told = [raw.columns[name].kind == "text" or _is_named_as_label(name) for name in (row, col)]
    return all(told) or is_laid_out(raw, row, col)


def _no_value(raw: RawTable, row: str, col: str, numbers: list[str]) -> str:
    long = f"{raw.file} looks like a long table, with rows in {display_name(row)} and columns in {display_name(col)}"
    if not numbers:
        return f"{long}, but no column of numbers for the values; add one."
    return Wording(
        f"{long}; choose ",
        Argument("value"),
        f" among {listed(numbers)}, or pass ",
        Argument("wide", True),
        ".",
    )


def guess_id(raw: RawTable) -> str | None:
    """Return the column of row labels of a wide table: the first whose entries are labels, all distinct."""
    if raw.index is not None:
        return raw.index
    for name, column in raw.columns.items():
        named = is_label_name(name) and column.can_be_labels
        if (column.kind == "text" or named) and column.is_unique:
            return name
    first, column = next(iter(raw.columns.items()))
    # If its labels are missing or not distinct, the reader raises an error with their location.
    return first if is_label_name(first) and (column.is_text or column.is_integer) else None
