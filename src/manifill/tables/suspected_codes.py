"""Values that look like codes for missing entries, such as -999 among values from 0 to 10.

A suspect is repeated and isolated: the gap to the nearest other value is wider than the range of all others.  That does
not hold for the ends of a rating scale, for counts with a maximum, or for a sensor that is clipped, all of which have
values next to them; and 0 is never suspected, since many tables have more zeros than anything else.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Array, IntVector, Vector
from manifill.problem import Observations
from manifill.tables.message_text import counted, listed

__all__ = ["suspicion_notes"]

NINES = tuple(10.0**digits - 1.0 for digits in range(1, 10))
# Codes that people use.  Any other value must be isolated far more clearly, by this multiple of the others' range.
TYPICAL = (-1.0, *(-code for code in NINES), *NINES)
CLEARLY = 10.0
FEWEST_OTHERS = 5
FEWEST, SMALL_SHARE = 3, 0.01  # times that a code occurs; or twice, if that is so large a share of the values
MOST_CODES = 4


class _Groups(NamedTuple):
    """Values that are compared with each other: those of a column, or of the whole table."""

    values: Vector
    starts: IntVector  # of the groups, none of them empty

    def without(self, code: float) -> "_Groups":
        kept = self.values != code
        sizes = np.add.reduceat(kept, self.starts, dtype=np.int64)
        sizes = sizes[sizes > 0]
        return _Groups(self.values[kept], np.cumsum(sizes) - sizes)


def suspicion_notes(observations: Observations) -> list[str]:
    """Return a sentence on the values that look like codes for missing entries, if there are any."""
    cells = observations.by_column
    table = _Groups(cells.values, np.zeros(1, dtype=np.int64))
    columns = _Groups(cells.values, cells.starts[:-1][np.diff(cells.starts) > 0])
    found: dict[float, int] = {}
    while len(found) < MOST_CODES and table.values.size:
        code, count = _suspect(table, columns)
        if not count:
            break
        found[code] = count
        table, columns = table.without(code), columns.without(code)  # another code may be hidden by this one
    return [_note(found)] if found else []


def _note(found: dict[float, int]) -> str:
    codes = [int(code) if code.is_integer() and abs(code) < 2.0**53 else code for code in found]
    counted_codes = [f"{code} ({counted(count, 'time')})" for code, count in zip(codes, found.values(), strict=True)]
    lies = "lies" if len(found) == 1 else "lie"
    means = "it means" if len(found) == 1 else "they mean"
    return Wording(
        f"{listed(counted_codes)} {lies} apart from all other values; if {means} missing, pass ",
        Argument("missing", codes),
    )


def _suspect(table: _Groups, columns: _Groups) -> tuple[float, int]:
    """Return the value that looks most like a code, and how often it occurs; not at all if there is none."""
    typical = np.unique(table.values[np.isin(table.values, TYPICAL)])
    found = [(_count_in_table(table, float(code), 1.0), float(code)) for code in typical]
    found += [(_count_in_columns(columns, float(code)), float(code)) for code in typical]
    found += [
        (_count_in_table(table, float(end), CLEARLY), float(end)) for end in (table.values.min(), table.values.max())
    ]
    count, code = max(found)
    return code, count


def _count_in_table(table: _Groups, code: float, clearly: float) -> int:
    """Return how often a code occurs if it is isolated in the table as a whole, otherwise 0."""
    count = int(_counts_if_isolated(table, code, clearly)[0])
    is_often = count >= FEWEST or (count == 2 and count >= SMALL_SHARE * table.values.size)
    return count if is_often and code != 0.0 else 0


def _count_in_columns(columns: _Groups, code: float) -> int:
    """Return how often a code occurs in columns where it is isolated; their units may differ.

    With many columns of counts, a large one is isolated in some, so a positive code must occur twice in a column.
    """
    if code == NINES[0]:
        return 0
    counts = _counts_if_isolated(columns, code, 1.0)
    counts = counts[counts >= (2 if code > 0.0 else 1)]
    return int(counts.sum()) if counts.sum() >= FEWEST else 0


def _counts_if_isolated(groups: _Groups, code: float, clearly: float) -> IntVector:
    """Return how often the code occurs in each group, 0 where it is not isolated."""
    values, starts = groups
    sizes = np.diff(starts, append=len(values))
    is_code = values == code
    counts = np.add.reduceat(is_code, starts, dtype=np.int64)
    lowest = np.minimum.reduceat(np.where(is_code, np.inf, values), starts)
    highest = np.maximum.reduceat(np.where(is_code, -np.inf, values), starts)
    between = ~is_code & (values > np.repeat(lowest, sizes)) & (values < np.repeat(highest, sizes))
    is_varied = (sizes - counts >= FEWEST_OTHERS) & np.logical_or.reduceat(between, starts)
    with np.errstate(invalid="ignore", over="ignore"):  # a group of nothing but the code, or the largest numbers
        gap = np.maximum(lowest - code, code - highest)
        is_isolated = (gap > clearly * (highest - lowest)) | _is_only_negative(code, lowest)
    isolated: Array = is_varied & is_isolated
    return np.where(isolated, counts, 0)


def _is_only_negative(code: float, lowest: Vector) -> Array:
    """Whether a typical code is negative and all other values are not; next to -1 they must be positive."""
    if code not in TYPICAL or code > 0.0:
        return np.zeros(len(lowest), dtype=bool)
    return lowest > 0.0 if code == -1.0 else lowest >= 0.0
