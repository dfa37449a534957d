"""Converts columns of a raw table to numbers or labels."""

import re
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from manifill.base.arrays import Array, Vector
from manifill.tables.csv_dialect import SWAP_POINT_AND_COMMA
from manifill.tables.raw_table import RawTable, is_numeric
from manifill.tables.table_layout import LabelKind

__all__ = [
    "ColumnKind",
    "Labels",
    "can_be_labels",
    "column_kinds",
    "is_counter",
    "labels_as",
    "labels_in",
    "numbers_in",
]

# "mostly numbers": more than half of the entries are numbers, perhaps formatted for people.
ColumnKind = Literal["numbers", "text", "mostly numbers"]

# Numbers formatted for people, which parsers reject: 1,234.5 and 1.234,5 and 1,5 and 12 %.
FORMATTED_NUMBER = r"[-+]?(?:[0-9]{1,3}(?:[.,' ][0-9]{3})+|[0-9]+)(?:[.,][0-9]+)? ?%?"
DIGITS = re.compile(r"[-+]?[0-9]{1,18}")
LEADING_ZERO = r"[-+]?0[0-9]"
LARGEST_EXACT = 2.0**53  # larger integers are not represented exactly


class Labels(NamedTuple):
    """The labels in a column, one per entry."""

    values: Array  # int64, or objects of type str
    kind: LabelKind


def column_kinds(raw: RawTable) -> dict[str, ColumnKind]:
    """Return the kind of each column, by name."""
    return {name: _kind(raw.frame[name], raw.decimal) for name in raw.frame}


def _kind(column: Any, decimal: str) -> ColumnKind:
    if is_numeric(column):
        return "numbers"
    entries = column.dropna()
    numbers = _to_numbers(entries, decimal).notna()
    if numbers.all():  # true for an empty column too, which is a column of unobserved numbers
        return "numbers"
    intended = numbers | entries.str.fullmatch(FORMATTED_NUMBER)
    return "mostly numbers" if intended.mean() > 0.5 else "text"


def _to_numbers(text: Any, decimal: str) -> Any:
    return pd.to_numeric(text.str.translate(SWAP_POINT_AND_COMMA) if decimal == "," else text, errors="coerce")


def numbers_in(raw: RawTable, name: str) -> Vector:
    """Return the numbers in a column, NaN for missing entries."""
    column = raw.frame[name]
    if is_numeric(column):
        values: Vector = column.to_numpy(dtype=np.float64, na_value=np.nan)
        invalid = np.isinf(values)
    else:
        values = _to_numbers(column, raw.decimal).to_numpy(dtype=np.float64)
        invalid = np.isinf(values) | (np.isnan(values) & column.notna().to_numpy())
    if invalid.any():
        record = int(np.argmax(invalid))
        entry = raw.as_text([name])[name].iloc[record]
        raise ValueError(
            f"{raw.location(record)} of {raw.file} has {entry!r} in the column {name!r}; write finite numbers "
            f"like 1234{raw.decimal}5 without thousands separators, and leave missing entries empty."
        )
    return values


def can_be_labels(column: Any) -> bool:
    """Whether the entries can be labels: text, or integers without missing entries."""
    return not is_numeric(column) or _are_integers(column)


def is_counter(column: Any) -> bool:
    """Whether a column only counts the rows: 0, 1, 2, … or 1, 2, 3, …."""
    return is_numeric(column) and any(np.array_equal(column, np.arange(len(column)) + start) for start in (0, 1))


def _are_integers(column: Any) -> bool:
    """Whether all numbers are integers that fit into 64 bits, and none is missing."""
    if pd.api.types.is_integer_dtype(column):
        return bool(column.notna().all() and column.max() <= np.iinfo(np.int64).max)
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return bool(np.all((np.abs(values) < LARGEST_EXACT) & (values == np.rint(values))))


def labels_in(raw: RawTable, name: str) -> Labels:
    """Return the labels in a column: integers if all are, else text as in the file.

    If one label has a leading zero, all are text: 007 is not 7.
    """
    _check_labels(raw, name)
    column = raw.frame[name]
    if not is_numeric(column):
        return Labels(column.to_numpy(dtype=object), "text")
    written = raw.as_text([name])[name]
    if _are_integers(column) and not pd.Series(written.unique()).str.match(LEADING_ZERO).any():
        return Labels(column.to_numpy(dtype=np.int64), "integer")
    return Labels(written.to_numpy(dtype=object), "text")


def labels_as(kind: LabelKind, raw: RawTable, name: str) -> Array:
    """Return the labels in a column as integers or as text, the kind of the labels of the fit."""
    if kind == "text":
        _check_labels(raw, name)
        return raw.as_text([name])[name].to_numpy(dtype=object)  # type: ignore[no-any-return]
    labels = labels_in(raw, name)
    if labels.kind == "integer":
        return labels.values
    invalid = [record for record, label in enumerate(labels.values) if not DIGITS.fullmatch(label)]
    if invalid:
        raise ValueError(
            f"{raw.location(invalid[0])} of {raw.file} has {labels.values[invalid[0]]!r} in the column {name!r}; "
            "give whole numbers, like the labels of the fit."
        )
    return np.array([int(label) for label in labels.values])


def _check_labels(raw: RawTable, name: str) -> None:
    missing = raw.frame[name].isna().to_numpy()
    if missing.any():
        record = int(np.argmax(missing))
        entry = raw.as_text([name])[name].iloc[record]
        raise ValueError(
            f"{raw.location(record)} of {raw.file} has the missing entry {entry!r} in the column {name!r}, "
            "which contains labels; fill it in, or remove the line."
        )
