"""Converts columns of a raw table to numbers or labels."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from manifill.base import progress
from manifill.base.arrays import Array, IntVector, Vector
from manifill.tables.message_text import quoted
from manifill.tables.raw_column import to_numbers
from manifill.tables.raw_table import RawTable
from manifill.tables.size_limit import check_memory
from manifill.tables.table_layout import LabelKind

__all__ = ["Labels", "label_array", "labels_as", "labels_in", "numbers_in"]

DIGITS = re.compile(r"[-+]?[0-9]{1,18}")
SECONDS_PER_LABEL = 2e-6  # that sorting takes; a guess
LEADING_ZERO = re.compile(r"[-+]?0[0-9]")


class Labels(NamedTuple):
    """The labels in a column: the distinct ones, and which of them each entry is."""

    codes: IntVector  # (records,) int32
    distinct: Array  # sorted int64, or objects of type str
    kind: LabelKind

    def at(self, record: int) -> str:
        """Return the label of a record, for messages."""
        return str(self.distinct[self.codes[record]])

    def values(self) -> Array:
        """Return the label of each record."""
        return self.distinct[self.codes]


def numbers_in(raw: RawTable, name: str) -> Vector:
    """Return the numbers in a column, NaN for missing entries."""
    column = raw.columns[name]
    values: Vector = _numbers_from_text(raw, name) if column.is_text else column.keys.astype(np.float64, copy=False)
    invalid = np.isinf(values) | (np.isnan(values) & ~column.missing)
    codes = raw.missing.among_numbers(values)
    if codes is not None:
        invalid &= ~codes
        values = np.where(codes, np.nan, values)
    if invalid.any():
        record = int(np.argmax(invalid))
        raise ValueError(
            f"{raw.location(record)} of {raw.file} has {_entry(raw, name, record)} in the column {quoted(name)}; write "
            f"finite numbers like 1234{raw.decimal}5 without thousands separators, and leave missing entries empty."
        )
    return values


def _numbers_from_text(raw: RawTable, name: str) -> Vector:
    pieces = (to_numbers(piece[name], raw.decimal).to_numpy(dtype=np.float64) for piece in raw.text_pieces([name]))
    return np.concatenate(list(pieces))


def labels_in(raw: RawTable, names: Sequence[str]) -> list[Labels]:
    """Return the labels in some columns: integers if all in the column are, else text as in the file.

    If one label has a leading zero, all are text: 007 is not 7.
    """
    found = []
    for name, text in zip(names, _text_labels(raw, names), strict=True):
        is_integer = raw.columns[name].is_integer and not any(map(LEADING_ZERO.match, text.distinct))
        found.append(_integer_labels(raw, name) if is_integer else text)
    return found


def label_array(raw: RawTable, labels: Labels) -> Array:
    """Return the distinct labels as integers or as NumPy's strings, which all take the memory of the longest one."""
    if labels.kind == "integer":
        return labels.distinct
    longest = max(map(len, labels.distinct))
    check_memory(raw.file, f"labels of up to {longest} characters", 4 * longest * len(labels.distinct))
    return labels.distinct.astype(np.str_)


def labels_as(kinds: Sequence[LabelKind], raw: RawTable, names: Sequence[str]) -> list[Array]:
    """Return the label of each record in some columns, as integers or as text, the kinds of the labels of the fit."""
    texts = _text_labels(raw, names)
    return [
        text.values() if kind == "text" else _integers(raw, name, text)
        for kind, name, text in zip(kinds, names, texts, strict=True)
    ]


def _text_labels(raw: RawTable, names: Sequence[str]) -> list[Labels]:
    """Return the labels in some columns as text, in one pass over the file."""
    for name in names:
        _check_labels(raw, name)
    collected = [_TextLabels(raw) for _ in names]
    for piece in raw.text_pieces(names):
        for name, labels in zip(names, collected, strict=True):
            labels.add(piece[name])
    guess = SECONDS_PER_LABEL * sum(labels.count for labels in collected)
    return [labels.labels() for labels in progress.counted(collected, "sorting labels", len(names), "columns", guess)]


class _TextLabels:
    """Collects the labels of a column of text, piece by piece."""

    def __init__(self, raw: RawTable) -> None:
        self._raw = raw
        self._codes: list[IntVector] = []
        self._numbers: dict[str, int] = {}  # of the distinct labels, in the order of their appearance

    def add(self, piece: pd.Series) -> None:
        codes, distinct = pd.factorize(piece.to_numpy(dtype=object))
        numbers = [self._numbers.setdefault(self._raw.as_label(text), len(self._numbers)) for text in distinct]
        self._codes.append(np.array(numbers, dtype=np.int32)[codes])

    @property
    def count(self) -> int:
        """The number of distinct labels."""
        return len(self._numbers)

    def labels(self) -> Labels:
        distinct = np.array(list(self._numbers), dtype=object)
        order = np.argsort(distinct)
        ranks = np.empty(len(order), dtype=np.int32)
        ranks[order] = np.arange(len(order), dtype=np.int32)
        return Labels(ranks[np.concatenate(self._codes)], distinct[order], "text")


def _integer_labels(raw: RawTable, name: str) -> Labels:
    codes, distinct = pd.factorize(raw.columns[name].keys.astype(np.int64, copy=False), sort=True)
    return Labels(codes.astype(np.int32), np.asarray(distinct), "integer")


def _integers(raw: RawTable, name: str, labels: Labels) -> Array:
    """Return the label of each record as an integer; text with leading zeros is one too."""
    column = raw.columns[name]
    if column.is_integer:
        return column.keys.astype(np.int64, copy=False)
    invalid = np.array([DIGITS.fullmatch(label) is None for label in labels.distinct])[labels.codes]
    if invalid.any():
        record = int(np.argmax(invalid))
        raise ValueError(
            f"{raw.location(record)} of {raw.file} has {quoted(labels.at(record))} in the column {quoted(name)}; "
            "give whole numbers, like the labels of the fit."
        )
    return np.array([int(label) for label in labels.distinct], dtype=np.int64)[labels.codes]


def _entry(raw: RawTable, name: str, record: int) -> str:
    """Return an entry as the file has it, in quotation marks."""
    for piece in raw.text_pieces([name]):
        if record < len(piece):
            return quoted(str(piece[name].iloc[record]))
        record -= len(piece)
    raise IndexError(record)


def _check_labels(raw: RawTable, name: str) -> None:
    missing = raw.columns[name].missing
    if missing.any():
        record = int(np.argmax(missing))
        raise ValueError(
            f"{raw.location(record)} of {raw.file} has the missing entry {_entry(raw, name, record)} in the column "
            f"{quoted(name)}, which contains labels; fill it in, or remove the line."
        )
