"""Whether intervals cover as many values as they should: over all cells, and by column."""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from manifill.base.arrays import IntVector, Vector

LEVELS = (0.5, 0.8, 0.9, 0.95)

# The probability that any column of a table fails at any level by chance (Bonferroni).
FALSE_ALARM = 1e-3


class Coverage(NamedTuple):
    """Shares of values in central intervals of each level, and the columns that miss them beyond chance."""

    pooled: tuple[float, ...]
    failed: int  # columns
    columns: int
    worst: str  # the column with the smallest p-value, in words


def covered(position: Vector, level: float) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return whether values at these positions, F(y), are in the central interval."""
    return np.abs(position - 0.5) <= 0.5 * level


def coverage(position: Vector, cols: IntVector) -> Coverage:
    """Test the coverage of the intervals of every level, by column."""
    columns, inverse, cells = np.unique(cols, return_inverse=True, return_counts=True)
    pooled, smallest, worst = [], np.ones(columns.size), (2.0, "")
    for level in LEVELS:
        inside = covered(position, level)
        pooled.append(float(np.mean(inside)))
        hits = np.bincount(inverse, inside, columns.size).astype(int)
        for j, (hit, count) in enumerate(zip(hits, cells, strict=True)):
            p = _p_value(int(hit), int(count), level)
            smallest[j] = min(smallest[j], p)
            worst = min(worst, (p, f"column {columns[j]}: {hit} of {count} at {level:.0%}"))
    failed = int(np.sum(smallest < FALSE_ALARM / (columns.size * len(LEVELS))))
    return Coverage(tuple(pooled), failed, columns.size, f"{worst[1]}, p = {worst[0]:.1g}")


@cache
def _p_value(hits: int, count: int, level: float) -> float:
    return float(binomtest(hits, count, level).pvalue)
