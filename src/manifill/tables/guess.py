"""Which columns are what, where nobody said."""

from collections.abc import Iterator
from typing import NamedTuple

from manifill.tables.columns import Kind, can_label, is_count
from manifill.tables.names import is_column_name, is_label_name, is_row_name, is_time_name, is_value_name
from manifill.tables.sheet import Sheet
from manifill.tables.words import listed, shown

__all__ = ["Roles", "find_roles", "guess_id", "guess_roles"]

Kinds = dict[str, Kind]


class Roles(NamedTuple):
    """The three columns of a long table; None for one that is not known."""

    row: str | None = None
    col: str | None = None
    value: str | None = None


def find_roles(sheet: Sheet, kinds: Kinds, given: Roles) -> Roles:
    """Return the columns of a long table, those that are not given by their names, or else by their contents.

    By contents, rows and columns are the first two columns of labels (text or whole numbers), and values are the one
    column of numbers that is left.
    """
    kinds = _without_count(sheet, kinds)
    named = _by_names(kinds, given)
    labels = _labels(sheet, kinds, named)
    row = named.row if named.row is not None else next(labels, None)
    col = named.col if named.col is not None else next(labels, None)
    values = _numbers(kinds, (row, col)) if named.value is None else [named.value]
    return Roles(row, col, values[0] if len(values) == 1 else None)


def _without_count(sheet: Sheet, kinds: Kinds) -> Kinds:
    """Return the columns without an index that only counts the lines, which pandas writes if not asked not to."""
    if sheet.index is None or not is_count(sheet.frame[sheet.index]):
        return kinds
    return {name: kind for name, kind in kinds.items() if name != sheet.index}


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


def _labels(sheet: Sheet, kinds: Kinds, taken: Roles) -> Iterator[str]:
    """Yield the columns that can be labels: text and whole numbers, but no times."""
    for name in kinds:
        if name not in taken and not is_time_name(name) and can_label(sheet.frame[name]):
            yield name


def _numbers(kinds: Kinds, taken: tuple[str | None, ...]) -> list[str]:
    """Return the columns that can be values: numbers that are no times."""
    return [name for name, kind in kinds.items() if kind != "text" and name not in taken and not is_time_name(name)]


def guess_roles(sheet: Sheet, kinds: Kinds) -> Roles | None:
    """Return the columns of a long table, or None if the table is wide."""
    kinds = _without_count(sheet, kinds)
    named = _by_names(kinds, Roles())
    if None not in named:
        return named
    labels_named = named.row is not None and named.col is not None
    if not labels_named and len(_numbers(kinds, ())) > 3:
        return None
    row, col, value = found = find_roles(sheet, kinds, Roles())
    if row is None or col is None or not _are_cells(sheet, row, col):
        return None
    if value is None:
        if labels_named:
            raise ValueError(_no_value(sheet, row, col, _numbers(kinds, (row, col))))
        return None
    if _numbers(kinds, found):  # more numbers than a long table has
        return None
    both_text = kinds[row] == kinds[col] == "text"
    return found if len(kinds) == 3 or labels_named or named.value is not None or both_text else None


def _are_cells(sheet: Sheet, row: str, col: str) -> bool:
    """Whether labels come more than once, each pair of them once."""
    pairs = sheet.frame[[row, col]]
    return bool(pairs[row].duplicated().any() and pairs[col].duplicated().any() and not pairs.duplicated().any())


def _no_value(sheet: Sheet, row: str, col: str, numbers: list[str]) -> str:
    long = f"{sheet.file} looks like a long table, with rows in {shown(row)} and columns in {shown(col)}"
    if not numbers:
        return f"{long}, but no column of numbers for the values; add one."
    return f"{long}; choose value among {listed(numbers)}, or pass wide=True."


def guess_id(sheet: Sheet, kinds: Kinds) -> str | None:
    """Return the column that names the rows of a wide table: the first whose entries are labels, all distinct."""
    if sheet.index is not None:
        return sheet.index
    for name in kinds:
        column = sheet.frame[name]
        named = is_label_name(name) and can_label(column)
        if (kinds[name] == "text" or named) and column.is_unique and column.notna().all():
            return name
    first = next(iter(kinds))
    # Labels that are not distinct, or missing: the reader says where.
    return first if is_label_name(first) and can_label(sheet.frame[first].dropna()) else None
