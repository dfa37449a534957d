"""Estimates from several completed tables, pooled by Rubin's rules (Rubin 1987; Barnard and Rubin 1999)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from manifill.base.arrays import Array

__all__ = ["PooledEstimate", "pool"]


@dataclass(frozen=True, eq=False)
class PooledEstimate:
    """An estimate with the uncertainty that sampling and missing entries cause; numbers, or (p,) for p of them."""

    estimate: Array
    standard_error: Array
    degrees_of_freedom: Array
    missing_information: Array  # the fraction of the information that is missing

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the bounds of the central confidence interval, from Student's t distribution."""
        if not 0.0 < level < 1.0:
            raise ValueError(f"level is the probability between the bounds, above 0 and below 1, not {level!r}.")
        reach = stats.t.isf(0.5 * (1.0 - level), self.degrees_of_freedom) * self.standard_error
        return np.asarray(self.estimate - reach), np.asarray(self.estimate + reach)


def pool(estimates: ArrayLike, variances: ArrayLike, degrees_of_freedom: ArrayLike = float("inf")) -> PooledEstimate:
    """Pool the estimates of one or more quantities from m completed tables.

    Parameters
    ----------
    estimates
        (m,) or (m, p): what the analysis of each completed table gives.
    variances
        The squares of the standard errors that come with them, of the same shape.
    degrees_of_freedom
        What the analysis would have of a table without missing entries, a number or (p,): the number of rows less that
        of coefficients for a linear regression.  Infinite by default.

    Examples
    --------
    >>> from manifill import pool
    >>> found = pool([1.0, 1.2, 1.1], [0.04, 0.05, 0.04], degrees_of_freedom=50)
    >>> round(float(found.estimate), 3), round(float(found.standard_error), 3)
    (1.1, 0.238)
    """
    each, within = (np.asarray(given, dtype=np.float64) for given in (estimates, variances))
    _check(each, within)
    complete = np.asarray(degrees_of_freedom, dtype=np.float64)
    if not np.all(complete > 0.0):
        raise ValueError("degrees_of_freedom must be positive.")
    m, average = len(each), within.mean(axis=0)
    between = (1.0 + 1.0 / m) * each.var(axis=0, ddof=1)
    total = average + between
    share = between / total  # λ, the share of the variance that missing entries cause
    degrees = _degrees(m, share, complete)
    increase = between / average
    missing = (increase + 2.0 / (degrees + 3.0)) / (increase + 1.0)
    return PooledEstimate(each.mean(axis=0), np.sqrt(total), degrees, np.where(between > 0.0, missing, 0.0))


def _degrees(m: int, share: Array, complete: Array) -> Array:
    """Return the degrees of freedom of Barnard and Rubin, which are at most those of a complete table."""
    with np.errstate(divide="ignore", invalid="ignore"):
        of_imputation = (m - 1) / share**2
        of_rows = np.where(np.isinf(complete), np.inf, (complete + 1.0) / (complete + 3.0) * complete * (1.0 - share))
        return np.asarray(1.0 / (1.0 / of_imputation + 1.0 / of_rows))


def _check(estimates: Array, variances: Array) -> None:
    if estimates.shape != variances.shape or estimates.ndim not in (1, 2):
        raise ValueError(
            "estimates and variances must have the same shape, (m,) or (m, p), not "
            f"{estimates.shape} and {variances.shape}."
        )
    if len(estimates) < 2:
        raise ValueError("estimates must come from at least two completed tables.")
    if not (np.isfinite(estimates).all() and np.isfinite(variances).all() and (variances > 0.0).all()):
        raise ValueError("estimates must be finite, and variances positive and finite.")
