"""Whether two columns of a table list the cells of a matrix: its rows one after the other, or its columns."""

import numpy as np
import pandas as pd

from manifill.base.arrays import Array, IntVector
from manifill.tables.raw_column import RawColumn
from manifill.tables.raw_table import RawTable

__all__ = ["is_laid_out"]

# Of the records, at most so many distinct labels in a column; the other records repeat them.
MOST_DISTINCT = 0.7


def is_laid_out(raw: RawTable, row: str, col: str) -> bool:
    """Whether two columns are laid out like the ids of a matrix's cells.

    They list cells row by row or column by column, in ascending order and none twice.  If the columns have names, these
    do not suggest ids, so the integers must count from 0 or 1 without gaps.
    """
    columns = raw.columns[row], raw.columns[col]
    if not all(_repeats_often(column) for column in columns):
        return False
    if _has_names(raw) and not all(column.is_text or _counts(column.keys) for column in columns):
        return False
    first, second = (_ordered_keys(column) for column in columns)
    return _lists_cells(first, second) or _lists_cells(second, first)


def _has_names(raw: RawTable) -> bool:
    return raw.header and list(raw.columns) != [str(k) for k in range(len(raw.columns))]


def _repeats_often(column: RawColumn) -> bool:
    return len(np.unique(column.keys)) <= MOST_DISTINCT * len(column.keys)


def _counts(keys: Array) -> bool:
    """Whether the distinct integers are 0, 1, 2, … or 1, 2, 3, …."""
    distinct = np.unique(keys)
    # Compared as floats: the difference of two 64-bit integers may overflow, and keys may be NaN.
    return distinct[0] in (0, 1) and float(distinct[-1]) - float(distinct[0]) + 1.0 == len(distinct)


def _ordered_keys(column: RawColumn) -> IntVector:
    """Return integers, or numbers of texts in the order of their first appearance."""
    if not column.is_text:
        return column.keys.astype(np.int64)
    codes, _ = pd.factorize(column.keys)
    return np.asarray(codes)


def _lists_cells(major: IntVector, minor: IntVector) -> bool:
    """Whether the major label ascends, and the minor label ascends strictly while the major one stays the same."""
    step, minor_step = np.diff(major), np.diff(minor)
    return bool(np.all((step > 0) | ((step == 0) & (minor_step > 0))))
