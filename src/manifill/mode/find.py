"""From observations to their mode: the penalty and the noise chosen where they are not known."""

from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from manifill.mode.estimate import MapEstimate
from manifill.mode.objective import Objective
from manifill.mode.path import Trial, choose_penalty, noise_floor
from manifill.mode.point import Point
from manifill.mode.prior import Prior, default_effects
from manifill.mode.solver import MOST_STEPS, solve
from manifill.problem import Likelihood, Observations
from manifill.types import Generator, Matrix

__all__ = ["find_mode", "fit_mode", "with_rank"]

# Of the mode that a chain starts from: how exact it is in units of λ, and its steps, at each penalty and at the end.
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
    """Return the mode given σ and the rate λ; those not known are chosen by cells held out (``choose_penalty``)."""
    precisions = default_effects(observations, likelihood) if effects else None
    with threadpool_limits(1, "blas"):  # for matrices this thin, threads take longer to meet than to multiply
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
    """Return a mode of at most this rank for chains to start from: within seconds, and not to many digits.

    Draws are less shrunk than the mode that predicts best, so the penalty is the least one that the cells held out do
    not speak against, by a standard error.  Such a mode fits its cells better than a draw would and predicts others
    worse, so σ is taken from between the two errors: σ² is their geometric mean, as in generalised cross-validation.
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

    They are so small that the data do not tell: one of them changes the log likelihood by about a half.
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
    """Return a factor with random columns added, orthonormal to each other and to its own."""
    fresh = rng.standard_normal((len(factor), count))
    for _ in range(2):  # once more, for what rounding leaves
        fresh -= factor @ (factor.T @ fresh)
        fresh = np.linalg.qr(fresh)[0]
    return np.ascontiguousarray(np.hstack((factor, fresh)))
