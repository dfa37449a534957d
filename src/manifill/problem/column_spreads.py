"""Columns on one scale: columns that hold different quantities are divided by their standard deviations."""

import numpy as np

from manifill.base.arrays import Vector
from manifill.problem.additive_fit import ROUNDING
from manifill.problem.observations import Observations

__all__ = ["are_variables", "column_spreads", "differ_widely", "divided_by", "middle_half", "without_outliers"]

# Spreads of columns with few cells are shrunk towards the average, with the weight of this many cells.
EXTRA_CELLS = 1.0

# Spreads differ widely if their 95 % quantile is more than this many times their 5 % quantile.  Columns of a low-rank
# matrix have unequal spreads even in common units, sevenfold at rank two with normal factors, and dividing by them
# would make the noise uneven.
WIDE_RATIO, TAIL = 10.0, 0.05

# Gross outliers are values so many standard deviations of the middle half of a column from its median.  The second
# number is the distance of normal quartiles.  Of fewer values the middle half says too little.
FARTHEST, NORMAL_QUARTILES = 30.0, 1.349
FEWEST_VALUES = 12

# If the median number of cells per column is below this, spreads are mostly sampling error.
ENOUGH_CELLS = 5.0


def column_spreads(observations: Observations) -> Vector:
    """Return the standard deviation of each column, (n,), shrunk towards the average."""
    cells = observations.by_column
    counts = np.diff(cells.starts)
    columns = cells.major_indices
    # Values are divided by a power of two, which is exact, so that the logarithms do not depend on the data's unit.
    unit = 2.0 ** np.floor(np.log2(max(float(np.abs(cells.values).max()), 1e-300)))
    values = cells.values / unit
    means = np.bincount(columns, values, len(counts)) / np.maximum(counts, 1)
    squares = np.bincount(columns, (values - means[columns]) ** 2, len(counts))
    freedom = (counts - 1).clip(0)
    # The squares of a constant column need not be exactly zero.
    varying = squares > ROUNDING**2 * np.bincount(columns, values**2, len(counts))
    if not varying.any():
        return np.ones(len(counts))
    # Logarithms are averaged, so that a column in a different unit does not dominate.
    logs = np.log(squares[varying] / freedom[varying])
    average = float(np.average(logs, weights=freedom[varying]))
    shrunk = np.full(len(counts), average)
    shrunk[varying] = (freedom[varying] * logs + EXTRA_CELLS * average) / (freedom[varying] + EXTRA_CELLS)
    return np.asarray(unit * np.exp(0.5 * shrunk))


def without_outliers(observations: Observations) -> Observations:
    """Return the observations with gross outliers moved to where they begin to be outliers.

    A single one would otherwise determine the spread of its column, and Student's tails could not make up for it.
    """
    cells = observations.by_column
    values = cells.values.copy()
    for begin, end in zip(cells.starts[:-1], cells.starts[1:], strict=True):
        if end - begin >= FEWEST_VALUES:
            median, sd = middle_half(values[begin:end])
            if sd > 0.0:
                np.clip(values[begin:end], median - FARTHEST * sd, median + FARTHEST * sd, out=values[begin:end])
    return Observations.from_triples(cells.indices, cells.major_indices, values, observations.shape)


def middle_half(values: Vector) -> tuple[float, float]:
    """Return the median, and the standard deviation of normal values with the same quartiles."""
    lower, median, upper = np.quantile(values, (0.25, 0.5, 0.75))
    return float(median), float(upper - lower) / NORMAL_QUARTILES


def differ_widely(observations: Observations, spreads: Vector) -> bool:
    """Return whether the spreads suggest columns in different units."""
    lower, upper = np.quantile(spreads, (TAIL, 1.0 - TAIL))
    enough = float(np.median(np.diff(observations.by_column.starts))) >= ENOUGH_CELLS
    return bool(enough and upper > WIDE_RATIO * lower)


def are_variables(observations: Observations) -> bool:
    """Return whether columns may be variables in units of their own, of which a table has no more than it has rows.

    The columns of a table with more columns than rows are usually repetitions of one quantity (times, users, samples),
    whose spreads differ because the quantity does; dividing by them gives the quietest columns most of the weight.
    """
    m, n = observations.shape
    return n <= m


def divided_by(observations: Observations, scales: Vector) -> Observations:
    """Return the observations with each column divided by its scale."""
    _, cols, values = observations.triples()
    return observations.with_values(values / scales[cols])
