"""Columns on one scale: a table of different quantities is divided by their spreads before it is fitted."""

import numpy as np

from manifill.problem.additive import ROUNDING
from manifill.problem.observations import Observations
from manifill.types import Vector

__all__ = ["column_spreads", "differ_widely", "divided_by"]

# Spreads of columns with few cells lean towards the average one, as if they had this many cells more of it.
EXTRA_CELLS = 1.0

# Spreads differ widely when the upper twentieth is this many times the lower one.  Those of a matrix of low rank differ
# by themselves: sevenfold at rank two with normal factors, where scaling would make the noise uneven.
WIDE_RATIO, TAIL = 10.0, 0.05

# Below this number of cells a column (the median one) spreads are mostly chance.
ENOUGH_CELLS = 5.0


def column_spreads(observations: Observations) -> Vector:
    """Return the standard deviation of each column's values about their mean, (n,), leaning towards the average one."""
    cells = observations.by_column
    counts = np.diff(cells.starts)
    lines = cells.lines
    # A power of two comes off first and goes back on at the end, so that logarithms do not see the data's unit.
    unit = 2.0 ** np.floor(np.log2(max(float(np.abs(cells.values).max()), 1e-300)))
    values = cells.values / unit
    means = np.bincount(lines, values, len(counts)) / np.maximum(counts, 1)
    squares = np.bincount(lines, (values - means[lines]) ** 2, len(counts))
    freedom = (counts - 1).clip(0)
    # Of a constant column rounding leaves a little.
    varying = squares > ROUNDING**2 * np.bincount(lines, values**2, len(counts))
    if not varying.any():
        return np.ones(len(counts))
    # Averages are taken of logarithms, since a column in another unit must not decide for the rest.
    logs = np.log(squares[varying] / freedom[varying])
    average = float(np.average(logs, weights=freedom[varying]))
    leaning = np.full(len(counts), average)
    leaning[varying] = (freedom[varying] * logs + EXTRA_CELLS * average) / (freedom[varying] + EXTRA_CELLS)
    return np.asarray(unit * np.exp(0.5 * leaning))


def differ_widely(observations: Observations, spreads: Vector) -> bool:
    """Say whether the columns look like quantities in different units."""
    lower, upper = np.quantile(spreads, (TAIL, 1.0 - TAIL))
    enough = float(np.median(np.diff(observations.by_column.starts))) >= ENOUGH_CELLS
    return bool(enough and upper > WIDE_RATIO * lower)


def divided_by(observations: Observations, scales: Vector) -> Observations:
    """Return the observations with each column divided by its scale."""
    rows, cols, values = observations.triples()
    return Observations.from_triples(
        rows,
        cols,
        values / scales[cols],
        observations.shape,
        row_labels=observations.row_labels,
        column_labels=observations.column_labels,
    )
