"""Infers the roles of columns: row labels, column labels and values of a long table, row labels of a wide one."""

from collections.abc import Iterator
from typing import NamedTuple

from manifill.tables.column_names import is_column_name, is_label_name, is_row_name, is_time_name, is_value_name
from manifill.tables.column_parsing import ColumnKind, can_be_labels, is_counter
from manifill.tables.message_text import display_name, listed
from manifill.tables.raw_table import RawTable

__all__ = ["Roles", "find_roles", "guess_id", "guess_roles"]

Kinds = dict[str, ColumnKind]


class Roles(NamedTuple):
    """The three columns of a long table; None for one that is unknown."""

    row: str | None = None
    col: str | None = None
    value: str | None = None


def find_roles(raw: RawTable, kinds: Kinds, given: Roles) -> Roles:
    """Return the columns of a long table; those that are not given are inferred from names, or else from contents.

    By contents, rows and columns are the first two columns of labels (text or integers), and values are the only
    remaining column of numbers.
    """
    kinds = _without_counter(raw, kinds)
    named = _by_names(kinds, given)
    labels = _labels(raw, kinds, named)
    row = named.row if named.row is not None else next(labels, None)
    col = named.col if named.col is not None else next(labels, None)
    values = _numbers(kinds, (row, col)) if named.value is None else [named.value]
    return Roles(row, col, values[0] if len(values) == 1 else None)


def _without_counter(raw: RawTable, kinds: Kinds) -> Kinds:
    """Return the columns without an index that only counts rows, which pandas writes by default."""
    if raw.index is None or not is_counter(raw.frame[raw.index]):
        return kinds
    return {name: kind for name, kind in kinds.items() if name != raw.index}


def _by_names(kinds: Kinds, given: Roles) -> Roles:
    free = [name for name in kinds if name not in given]
    row, col, value = given
    if row is None:
        row = next(filter(is_row_name, free), None)
    if col is None:
        col = next(filter(is_column_name, free), None)
    if value is None:
        value = next((name for name in free if is_value_name(name) and kinds[name] != "text"), None)
    return Roles(row, col, value)


def _labels(raw: RawTable, kinds: Kinds, taken: Roles) -> Iterator[str]:
    """Yield the columns that can be labels: text and integers, except times."""
    for name in kinds:
        if name not in taken and not is_time_name(name) and can_be_labels(raw.frame[name]):
            yield name


def _numbers(kinds: Kinds, taken: tuple[str | None, ...]) -> list[str]:
    """Return the columns that can be values: numbers, except times."""
    return [name for name, kind in kinds.items() if kind != "text" and name not in taken and not is_time_name(name)]


def guess_roles(raw: RawTable, kinds: Kinds) -> Roles | None:
    """Return the columns of a long table, or None if the table is wide."""
    kinds = _without_counter(raw, kinds)
    named = _by_names(kinds, Roles())
    if None not in named:
        return named
    labels_named = named.row is not None and named.col is not None
    if not labels_named and len(_numbers(kinds, ())) > 3:
        return None
    row, col, value = found = find_roles(raw, kinds, Roles())
    if row is None or col is None or not _are_cells(raw, row, col):
        return None
    if value is None:
        if labels_named:
            raise ValueError(_no_value(raw, row, col, _numbers(kinds, (row, col))))
        return None
    if _numbers(kinds, found):  # a long table has one column of numbers
        return None
    both_text = kinds[row] == kinds[col] == "text"
    return found if len(kinds) == 3 or labels_named or named.value is not None or both_text else None


def _are_cells(raw: RawTable, row: str, col: str) -> bool:
    """Whether row and column labels repeat, but pairs of them do not."""
    pairs = raw.frame[[row, col]]
    return bool(pairs[row].duplicated().any() and pairs[col].duplicated().any() and not pairs.duplicated().any())


def _no_value(raw: RawTable, row: str, col: str, numbers: list[str]) -> str:
    long = f"{raw.file} looks like a long table, with rows in {display_name(row)} and columns in {display_name(col)}"
    if not numbers:
        return f"{long}, but no column of numbers for the values; add one."
    return f"{long}; choose value among {listed(numbers)}, or pass wide=True."


def guess_id(raw: RawTable, kinds: Kinds) -> str | None:
    """Return the column of row labels of a wide table: the first whose entries are labels, all distinct."""
    if raw.index is not None:
        return raw.index
    for name in kinds:
        column = raw.frame[name]
        named = is_label_name(name) and can_be_labels(column)
        if (kinds[name] == "text" or named) and column.is_unique and column.notna().all():
            return name
    first = next(iter(kinds))
    # If its labels are missing or not distinct, the reader raises an error with their location.
    return first if is_label_name(first) and can_be_labels(raw.frame[first].dropna()) else None
