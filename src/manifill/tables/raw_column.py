"""What is kept of a column while its role is being found: 8 bytes per entry, however long its text is."""

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from manifill.base.arrays import Array

__all__ = ["SWAP_POINT_AND_COMMA", "ColumnKind", "RawColumn", "TextSummary", "number_column", "to_numbers"]

# "mostly numbers": more than half of the entries are numbers, perhaps formatted for people.
ColumnKind = Literal["numbers", "text", "mostly numbers"]

# Numbers formatted for people, which parsers reject: 1,234.5 and 1.234,5 and 1,5 and 12 %.
FORMATTED_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,3}(?:[.,' ][0-9]{3})+|[0-9]+)(?:[.,][0-9]+)? ?%?")
# Makes decimals of decimal commas, and of stray points what no number has.
SWAP_POINT_AND_COMMA = str.maketrans(",.", ".,")
LARGEST_EXACT = 2.0**53  # larger integers are not represented exactly


@dataclass(frozen=True, eq=False)
class RawColumn:
    """The entries of a column: numbers, or hashes of text, which tell which entries are equal."""

    keys: Array  # (records,) int64, uint64 or float64 numbers, NaN for missing ones; or uint64 hashes of text
    missing: Array  # (records,) bool
    is_text: bool  # whether keys are hashes
    kind: ColumnKind

    @property
    def is_complete(self) -> bool:
        """Whether no entry is missing."""
        return not self.missing.any()

    @property
    def is_unique(self) -> bool:
        """Whether all entries are distinct and none is missing."""
        return self.is_complete and not self.repeats

    @property
    def repeats(self) -> bool:
        """Whether an entry occurs twice."""
        keys = self.keys if self.is_complete else self.keys[~self.missing]
        return len(np.unique(keys)) < len(keys)

    @property
    def is_integer(self) -> bool:
        """Whether all entries are integers that fit into 64 bits, except missing ones."""
        if self.is_text:
            return False
        if self.keys.dtype.kind != "f":
            return not self.keys.size or int(self.keys.max()) <= np.iinfo(np.int64).max
        keys = self.keys[~self.missing]
        return bool(np.all((np.abs(keys) < LARGEST_EXACT) & (keys == np.rint(keys))))

    @property
    def can_be_labels(self) -> bool:
        """Whether the entries can be labels: text, or integers without missing entries."""
        return self.is_text or (self.is_complete and self.is_integer)


def number_column(values: Array) -> RawColumn:
    """Return a column of numbers, with NaN for missing entries."""
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    return RawColumn(values, missing, is_text=False, kind="numbers")


def to_numbers(text: Any, decimal: str) -> Any:
    """Return a pandas Series of text as numbers, NaN for what is none."""
    return pd.to_numeric(text.str.translate(SWAP_POINT_AND_COMMA) if decimal == "," else text, errors="coerce")


class TextSummary:
    """Collects what is known of a column of text, piece by piece."""

    def __init__(self, decimal: str) -> None:
        self._decimal = decimal
        self._keys: list[Array] = []
        self._entries = self._numbers = self._intended = 0

    def add(self, piece: Any) -> None:
        """Add a pandas Series of text, with NaN for missing entries."""
        codes, distinct = pd.factorize(piece)
        found = codes >= 0
        counts = np.bincount(codes[found], minlength=len(distinct))
        distinct = pd.Series(distinct, dtype=object)
        is_number = to_numbers(distinct, self._decimal).notna().to_numpy()
        formatted = (FORMATTED_NUMBER.fullmatch(text) is not None for text in distinct)
        is_intended = is_number | np.fromiter(formatted, dtype=bool, count=len(distinct))
        self._entries += int(counts.sum())
        self._numbers += int(counts[is_number].sum())
        self._intended += int(counts[is_intended].sum())
        hashes = pd.util.hash_array(distinct.to_numpy(), categorize=False)
        # Zero stands for a missing entry.
        self._keys.append(np.append(np.maximum(hashes, 1), np.uint64(0))[codes])

    def column(self) -> RawColumn:
        """Return the column of all pieces."""
        keys = np.concatenate(self._keys)
        return RawColumn(keys, keys == 0, is_text=True, kind=self._kind())

    def _kind(self) -> ColumnKind:
        if self._numbers == self._entries:  # true for an empty column too, which is a column of unobserved numbers
            return "numbers"
        return "mostly numbers" if self._intended > 0.5 * self._entries else "text"
