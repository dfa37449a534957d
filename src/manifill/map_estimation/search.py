"""From observations to their mode; the penalty and the noise are chosen if they are unknown."""

from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from manifill.base.arrays import Generator, Matrix
from manifill.likelihoods import Likelihood
from manifill.map_estimation.estimate import MapEstimate
from manifill.map_estimation.objective import Objective
from manifill.map_estimation.penalty_path import Trial, choose_penalty, noise_floor
from manifill.map_estimation.point import Point
from manifill.map_estimation.precisions import Prior, default_effects
from manifill.map_estimation.solver import MOST_STEPS, solve
from manifill.problem import Observations

__all__ = ["find_mode", "fit_mode", "with_rank"]

# The mode that chains start from: its tolerance in units of λ, and the maximum steps per penalty and at the end.
COARSE_TOLERANCE, COARSE_PATH_STEPS, COARSE_STEPS = 0.05, 100, 300


def fit_mode(
    rng: Generator,
    observations: Observations,
    likelihood: Likelihood,
    *,
    rank: int | None = None,
    effects: bool = True,
    sigma: float | None = None,
    rate: float | None = None,
    tolerance: float = 1e-5,
) -> MapEstimate:
    """Return the mode given σ and the rate λ; unknown ones are chosen on held-out cells (``choose_penalty``)."""
    precisions = default_effects(observations, likelihood) if effects else None
    with threadpool_limits(1, "blas"):  # for tall, thin matrices synchronising threads takes longer than multiplying
        if not likelihood.has_noise:
            sigma = 1.0
        start: Point | None = None
        trials: tuple[Trial, ...] = ()
        if sigma is None or rate is None:
            choice = choose_penalty(rng, observations, likelihood, precisions, rank=rank, sigma=sigma, rate=rate)
            sigma, start, trials = choice.sigma, choice.point, choice.trials
            rate = choice.penalty / sigma**2 if rate is None else rate
        prior = Prior(rate, sigma**-2, precisions)
        return _settle(observations, likelihood, prior, rank, tolerance, start, trials, MOST_STEPS)


def find_mode(
    rng: Generator, observations: Observations, likelihood: Likelihood, rank: int, *, effects: bool
) -> MapEstimate:
    """Return a mode of at most this rank for chains to start from, to a coarse tolerance that takes seconds.

    Draws are less shrunk than the mode that predicts best, so the penalty is the smallest whose held-out score is
    within one standard error of the best.  Such a mode fits the training cells better than a draw does, and predicts
    the held-out cells worse, so σ² is the geometric mean of the two mean square errors, as in generalised
    cross-validation.
    """
    precisions = default_effects(observations, likelihood) if effects else None
    with threadpool_limits(1, "blas"):
        choice = choose_penalty(rng, observations, likelihood, precisions, rank=rank, most_steps=COARSE_PATH_STEPS)
        penalty, _, training, held_out = choice.weakest
        sigma = 1.0
        if likelihood.has_noise:
            sigma = max((4.0 * training * held_out) ** 0.25, noise_floor(observations, likelihood, effects=effects))
        prior = Prior(penalty / sigma**2, sigma**-2, precisions)
        return _settle(
            observations, likelihood, prior, rank, COARSE_TOLERANCE, choice.point, choice.trials, COARSE_STEPS
        )


def _settle(
    observations: Observations,
    likelihood: Likelihood,
    prior: Prior,
    rank: int | None,
    tolerance: float,
    start: Point | None,
    trials: tuple[Trial, ...],
    most_steps: int,
) -> MapEstimate:
    """Return the mode of all observations under this prior."""
    objective = Objective.of(observations, likelihood, prior)
    point, certificate, steps = solve(objective, rank=rank, tolerance=tolerance, start=start, most_steps=most_steps)
    return MapEstimate(
        U=np.ascontiguousarray(point.U),
        s=point.s,
        V=np.ascontiguousarray(point.V),
        mu=point.mean,
        row_effects=point.row,
        column_effects=point.column,
        sigma=prior.precision**-0.5,
        lambda_=prior.rate,
        effects=prior.effects,
        objective=objective.value(point),
        certificate=certificate,
        iterations=steps,
        path=trials,
        likelihood=likelihood,
        observations=observations,
    )


def with_rank(rng: Generator, estimate: MapEstimate, rank: int) -> MapEstimate:
    """Return the estimate with components in random directions added until there are ``rank``.

    The new components are too small for the data to determine: each changes the log likelihood by about 1/2.
    """
    missing = rank - estimate.rank
    if missing <= 0:
        return estimate
    m, n = estimate.observations.shape
    size = estimate.sigma * np.sqrt(m * n / estimate.observations.size)
    size = min(size, float(np.min(estimate.s, initial=np.inf)))
    return replace(
        estimate,
        U=_with_columns(rng, estimate.U, missing),
        s=np.append(estimate.s, np.full(missing, size)),
        V=_with_columns(rng, estimate.V, missing),
    )


def _with_columns(rng: Generator, factor: Matrix, count: int) -> Matrix:
    """Return a factor with random columns added, orthonormal to each other and to the existing ones."""
    fresh = rng.standard_normal((len(factor), count))
    for _ in range(2):  # the second pass removes rounding errors
        fresh -= factor @ (factor.T @ fresh)
        fresh = np.linalg.qr(fresh)[0]
    return np.ascontiguousarray(np.hstack((factor, fresh)))
