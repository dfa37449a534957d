"""A column as numbers, or as labels."""

import re
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from manifill.tables.dialect import SWAP
from manifill.tables.layout import LabelKind
from manifill.tables.sheet import Sheet, is_numeric
from manifill.types import Array, Vector

__all__ = ["Kind", "Labels", "can_label", "is_count", "kinds_of", "labels_as", "labels_in", "numbers_in"]

# "spoiled": most entries are numbers, or look as if they were meant to be.
Kind = Literal["numbers", "text", "spoiled"]

# Numbers as people write them and computers do not: 1,234.5 and 1.234,5 and 1,5 and 12 %.
WRITTEN_FOR_PEOPLE = r"[-+]?(?:[0-9]{1,3}(?:[.,' ][0-9]{3})+|[0-9]+)(?:[.,][0-9]+)? ?%?"
DIGITS = re.compile(r"[-+]?[0-9]{1,18}")
LEADING_ZERO = r"[-+]?0[0-9]"
LARGEST_EXACT = 2.0**53  # whole numbers beyond are not told apart by floats


class Labels(NamedTuple):
    """The labels in a column, one an entry."""

    values: Array  # int64, or objects that are str
    kind: LabelKind


def kinds_of(sheet: Sheet) -> dict[str, Kind]:
    """Return what each column holds."""
    return {name: _kind(sheet.frame[name], sheet.decimal) for name in sheet.frame}


def _kind(column: Any, decimal: str) -> Kind:
    if is_numeric(column):
        return "numbers"
    entries = column.dropna()
    numbers = _to_numbers(entries, decimal).notna()
    if numbers.all():  # as in a column with nothing in it: numbers that were not observed
        return "numbers"
    meant = numbers | entries.str.fullmatch(WRITTEN_FOR_PEOPLE)
    return "spoiled" if meant.mean() > 0.5 else "text"


def _to_numbers(text: Any, decimal: str) -> Any:
    return pd.to_numeric(text.str.translate(SWAP) if decimal == "," else text, errors="coerce")


def numbers_in(sheet: Sheet, name: str) -> Vector:
    """Return a column's numbers, NaN where missing."""
    column = sheet.frame[name]
    if is_numeric(column):
        values: Vector = column.to_numpy(dtype=np.float64, na_value=np.nan)
        odd = np.isinf(values)
    else:
        values = _to_numbers(column, sheet.decimal).to_numpy(dtype=np.float64)
        odd = np.isinf(values) | (np.isnan(values) & column.notna().to_numpy())
    if odd.any():
        record = int(np.argmax(odd))
        entry = sheet.written([name])[name].iloc[record]
        raise ValueError(
            f"{sheet.place(record)} of {sheet.file} has {entry!r} in the column {name!r}; write numbers like "
            f"1234{sheet.decimal}5, finite and without separators of thousands, and leave a missing one empty."
        )
    return values


def can_label(column: Any) -> bool:
    """Whether entries are labels: text, or whole numbers of which none is missing."""
    return not is_numeric(column) or _are_whole(column)


def is_count(column: Any) -> bool:
    """Whether a column is 0, 1, 2, … or 1, 2, 3, …."""
    return is_numeric(column) and any(np.array_equal(column, np.arange(len(column)) + start) for start in (0, 1))


def _are_whole(column: Any) -> bool:
    """Whether numbers are whole, none is missing, and 64 bits hold them."""
    if pd.api.types.is_integer_dtype(column):
        return bool(column.notna().all() and column.max() <= np.iinfo(np.int64).max)
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return bool(np.all((np.abs(values) < LARGEST_EXACT) & (values == np.rint(values))))


def labels_in(sheet: Sheet, name: str) -> Labels:
    """Return a column's labels: whole numbers if all are, else text as the file has it.

    One label with a leading zero makes all of them text: 007 is not 7.
    """
    _check_labels(sheet, name)
    column = sheet.frame[name]
    if not is_numeric(column):
        return Labels(column.to_numpy(dtype=object), "text")
    written = sheet.written([name])[name]
    if _are_whole(column) and not pd.Series(written.unique()).str.match(LEADING_ZERO).any():
        return Labels(column.to_numpy(dtype=np.int64), "integer")
    return Labels(written.to_numpy(dtype=object), "text")


def labels_as(kind: LabelKind, sheet: Sheet, name: str) -> Array:
    """Return a column's labels as whole numbers or as text, whichever the labels of the fit are."""
    if kind == "text":
        _check_labels(sheet, name)
        return sheet.written([name])[name].to_numpy(dtype=object)  # type: ignore[no-any-return]
    labels = labels_in(sheet, name)
    if labels.kind == "integer":
        return labels.values
    odd = [record for record, label in enumerate(labels.values) if not DIGITS.fullmatch(label)]
    if odd:
        raise ValueError(
            f"{sheet.place(odd[0])} of {sheet.file} has {labels.values[odd[0]]!r} in the column {name!r}; "
            "give whole numbers, as the labels of the fit are."
        )
    return np.array([int(label) for label in labels.values])


def _check_labels(sheet: Sheet, name: str) -> None:
    missing = sheet.frame[name].isna().to_numpy()
    if missing.any():
        record = int(np.argmax(missing))
        entry = sheet.written([name])[name].iloc[record]
        raise ValueError(
            f"{sheet.place(record)} of {sheet.file} has {entry!r} for a label in the column {name!r}, which stands for "
            "a missing one; fill it in, or drop the line."
        )
