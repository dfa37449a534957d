"""The posterior mode: a fast point estimate without uncertainty."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manifill.base.wording import counted
from manifill.estimators.arguments import (
    check_choice,
    check_count,
    check_positive,
    check_sigma,
    check_values,
    choose_likelihood,
)
from manifill.estimators.column_scaling import scale_columns
from manifill.likelihoods import Likelihood
from manifill.map_estimation import MapEstimate, fit_mode
from manifill.problem import Duplicates, Layout, Observations, as_observations
from manifill.problem.model import check_rank

__all__ = ["map_estimate"]


def map_estimate(
    rows: Any,
    cols: ArrayLike | None = None,
    values: ArrayLike | None = None,
    *,
    shape: tuple[int, int] | None = None,
    layout: Layout | None = None,
    likelihood: str | Likelihood = "gaussian",
    rank: int | None = None,
    lambda_: float | None = None,
    sigma: float | None = None,
    effects: str | None = "additive",
    column_scales: str | None = "auto",
    trials: int | None = None,
    step: float = 1.0,
    offset: float = 0.0,
    tolerance: float = 1e-5,
    duplicates: Duplicates = "error",
    seed: int = 0,
) -> MapEstimate:
    """Return the posterior mode: maximum likelihood with a nuclear-norm penalty (docs/math.md, the mode).

    Parameters
    ----------
    rows, cols, values
        One entry per cell; or, as ``rows`` alone, a 2-D array with NaN for missing cells, a ``scipy.sparse`` matrix, or
        a DataFrame, long or wide (see ``layout``).
    shape
        (m, n) of the matrix, for triples only; the smallest that holds all cells by default.
    layout
        ``"long"`` for a DataFrame with the columns row, column and value, ``"wide"`` for one that is the matrix itself,
        with labels as index and column names and NaN for missing cells; decided from the frame if it is not ambiguous.
    likelihood
        ``"gaussian"``, ``"softplus"`` (positive data) or ``"binomial"`` (counts out of ``trials``, ratings), or a
        likelihood object, such as one from :func:`manifill.custom_likelihood`.
    rank
        The maximum rank; unlimited by default.
    lambda_, sigma
        The rate of the exponential prior of the singular values, and the standard deviation of the noise.  Those not
        given are chosen by the error on a random tenth of the cells.
    effects
        ``"additive"`` for a mean, row and column effects in addition to the low-rank matrix, normal with variances
        estimated from the data; None for no effects.
    column_scales
        ``"auto"`` to divide the columns by their standard deviations if these differ widely, ``"standardize"`` to
        always do so, None to leave the columns unscaled.  Predictions are in the data's units; all other fields of the
        result are in scaled units.
    trials, step, offset
        For the Binomial: values are offset, offset + step, …, offset + trials · step.
    tolerance
        Maximum distance from the mode, in units of λ: see :class:`manifill.map_estimation.Certificate`.
    duplicates
        How to handle a cell given more than once: ``"error"`` or ``"average"``.
    seed
        Seed of the random choice of held-out cells.

    Examples
    --------
    >>> import numpy as np
    >>> from manifill.estimators.map_estimate import map_estimate
    >>> rng = np.random.default_rng(0)
    >>> table = np.outer(rng.normal(size=30), rng.normal(size=20)) + 0.1 * rng.normal(size=(30, 20))
    >>> table[rng.random(table.shape) < 0.5] = np.nan
    >>> estimate = map_estimate(table, effects=None)
    >>> estimate.complete().shape, estimate.certificate.converged
    ((30, 20), True)
    """
    observations = as_observations(rows, cols, values, shape, duplicates, layout)
    chosen = choose_likelihood(likelihood, trials, step, offset)
    check_choice("effects", effects, ("additive", None))
    if sigma is not None and not chosen.has_noise:
        raise ValueError(f"sigma={sigma!r} has no meaning for likelihood={chosen.name!r}; leave it out.")
    scaled, scales = scale_columns(column_scales, observations, chosen, {"sigma": sigma, "lambda_": lambda_})
    check_values(scaled, chosen)
    estimate = fit_mode(
        np.random.default_rng(check_count("seed", seed, 0)),
        scaled,
        chosen,
        rank=None if rank is None else _rank(rank, observations),
        effects=effects is not None,
        sigma=None if sigma is None else check_sigma(sigma),
        rate=None if lambda_ is None else check_positive("lambda_", lambda_),
        tolerance=check_positive("tolerance", tolerance),
    )
    if not estimate.certificate.converged:
        warnings.warn(_verdict(estimate), RuntimeWarning, stacklevel=2)
    return estimate if scales is None else replace(estimate, column_scales=scales)


def _rank(given: Any, observations: Observations) -> int:
    rank = check_count("rank", given, 1)
    check_rank(rank, observations.shape)
    return rank


def _verdict(estimate: MapEstimate) -> str:
    certificate = estimate.certificate
    found = ", ".join(f"{name} {value:.1g}" for name, value in certificate.residuals._asdict().items())
    return (
        f"after {counted(estimate.iterations, 'iteration')} the estimate is not the mode to "
        f"tolerance={certificate.tolerance:g}: its residuals are {found}, in units of λ. Set a higher "
        "tolerance or a larger lambda_."
    )
