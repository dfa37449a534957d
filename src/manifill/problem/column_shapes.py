"""The transform of each column that makes it nearly normal, fitted to its values alone (docs/math.md, §2.7)."""

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from manifill.base import progress
from manifill.base.arrays import Vector
from manifill.problem.column_spreads import column_spreads, middle_half, without_outliers
from manifill.problem.column_units import NO_LIMIT, ColumnUnits
from manifill.problem.mean_baselines import column_means
from manifill.problem.observations import Observations

__all__ = ["are_shaped", "fit_shapes", "standardised"]

# A column is transformed if it has so many values, so many distinct ones, and no value that is too common: the density
# of values that repeat grows without a limit if they are drawn together, which says nothing about their shape.
FEWEST_VALUES, FEWEST_DISTINCT, COMMONEST = 20, 10, 0.1

# Of a long column, so many order statistics represent it.
MOST_VALUES = 500

# ε and log δ are normal about 0 with this standard deviation, and bounded: a column with few values is hardly changed.
# δ is at most 1, so that z grows no faster than y: with light tails made heavier, a new value far outside the fitted
# ones would have a z that is many times as far.
SHAPE_SD, LARGEST_SKEWNESS, LOG_TAILS = 0.25, 2.0, (-1.2, 0.0)
LARGEST_SHIFT, LARGEST_LOG_SCALE = 5.0, 4.0  # relative to median and quartiles

# Beyond this, z is a logarithm in columns that have such values: predictions for their rows and columns, which are
# linear in z, would otherwise follow the outlier.  Standardised normal values are never so far.
LIMIT = 12.0


def are_shaped(observations: Observations) -> bool:
    """Return whether any column could be transformed."""
    return any(_is_continuous(values) for values in _columns(observations))


def standardised(observations: Observations) -> ColumnUnits:
    """Return the units in which each column has mean zero and standard deviation one, gross outliers apart."""
    usual = without_outliers(observations)
    units = ColumnUnits.divided_by(column_spreads(usual))._replace(center=column_means(usual))
    return _limited(units, observations)


def fit_shapes(observations: Observations) -> ColumnUnits:
    """Return the units in which each column is nearly standard normal; columns of few values are only standardised."""
    shapes = np.column_stack(standardised(observations))
    both = zip(_columns(observations), _columns(without_outliers(observations)), strict=True)
    columns = progress.counted(enumerate(both), "fitting shapes of columns", len(shapes), "columns")
    with threadpool_limits(1, "blas"):  # for vectors this short, threads cost a hundred times what they save
        for j, (values, usual) in columns:
            if _is_continuous(values):
                shapes[j] = *_fitted(usual), NO_LIMIT
    return _limited(ColumnUnits(*shapes.T.copy()), observations)


def _limited(units: ColumnUnits, observations: Observations) -> ColumnUnits:
    """Return the units with a limit in the columns that have values beyond it, and none in the others."""
    _, cols, values = observations.triples()
    limit = np.full(observations.shape[1], NO_LIMIT)
    is_far = np.abs(units._replace(limit=limit).at(cols).to_model(values)) > LIMIT
    limit[cols[is_far]] = LIMIT
    return units._replace(limit=limit)


def _columns(observations: Observations) -> list[Vector]:
    cells = observations.by_column
    return np.split(cells.values, cells.starts[1:-1])


def _is_continuous(values: Vector) -> bool:
    """Return whether a column has enough values to have a shape."""
    if values.size < FEWEST_VALUES:
        return False
    counts = np.unique_counts(values).counts
    return bool(counts.size >= FEWEST_DISTINCT and counts.max() <= COMMONEST * values.size)


def _fitted(values: Vector) -> tuple[float, float, float, float]:
    """Return ξ, η, ε and δ of the largest penalised likelihood."""
    center, reach = middle_half(values)
    scale = reach or float(values.std())
    some = values
    if values.size > MOST_VALUES:
        some = np.quantile(values, (np.arange(MOST_VALUES) + 0.5) / MOST_VALUES)
    shift, log_scale = (-LARGEST_SHIFT, LARGEST_SHIFT), (-LARGEST_LOG_SCALE, LARGEST_LOG_SCALE)
    skewness = -LARGEST_SKEWNESS, LARGEST_SKEWNESS
    found = minimize(
        _penalised,
        np.zeros(4),
        ((some - center) / scale, values.size / some.size),
        jac=True,
        method="L-BFGS-B",
        bounds=(shift, log_scale, skewness, LOG_TAILS),
    ).x
    return center + scale * found[0], scale * float(np.exp(found[1])), float(found[2]), float(np.exp(found[3]))


def _penalised(parameters: Vector, values: Vector, weight: float) -> tuple[float, Vector]:
    """Return minus the log density of the values and of (ε, log δ), and its gradient.

    The parameters are ξ, log η, ε and log δ; each value counts ``weight`` times.
    """
    shift, log_scale, skewness, log_tail = parameters
    scale, tail = np.exp(log_scale), np.exp(log_tail)
    w = (values - shift) / scale
    arc, root = np.arcsinh(w), np.hypot(1.0, w)
    u = tail * arc - skewness
    sinh, cosh = np.sinh(u), np.cosh(u)
    each = -0.5 * sinh**2 + np.log(cosh) - np.log(root) + log_tail - log_scale
    in_u = sinh / cosh - sinh * cosh
    in_w = in_u * tail / root - w / root**2
    slopes = np.array(
        [-np.sum(in_w) / scale, -np.sum(in_w * w) - w.size, -np.sum(in_u), tail * np.sum(in_u * arc) + w.size]
    )
    penalty = np.array([0.0, 0.0, skewness, log_tail]) / SHAPE_SD**2
    value = weight * np.sum(each) - 0.5 * (skewness**2 + log_tail**2) / SHAPE_SD**2
    return -float(value), penalty - weight * slopes
