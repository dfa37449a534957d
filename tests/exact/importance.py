"""The posterior of rank one with everything learned, by draws from the prior weighted by the likelihood.

Effects are integrated out: given X, the noise and the precisions, the data are Gaussian.  That leaves so few unknowns
that weights are even enough.  Nothing of the samplers is used, so priors are those of the documentation: s ~ Exp(λ),
u and v uniform, 1/σ² under its scaled F prior, the precisions of effects under Gamma priors.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from manifill.base.arrays import Generator, IntVector, Matrix, Vector
from manifill.base.priors import Gamma, ScaledF
from manifill.problem import Model, Observations
from tests.problem.likelihoods import precision_of

CHUNK = 200_000


class Particles(NamedTuple):
    """Draws from the prior, with effects integrated out, and their weights."""

    log_weights: Vector  # (K,)
    scales: dict[str, Vector]  # (K,) each: s, λ, σ and the standard deviations of the effects
    means: Matrix  # (K, m, n): of the completed matrix given the rest
    sds: Matrix  # (K, m, n)


def particles(rng: Generator, model: Model, observations: Observations, number: int) -> Particles:
    """Return weighted draws from the prior of a Gaussian model of rank one with effects."""
    chunks = [_chunk(rng, model, observations) for _ in range(-(-number // CHUNK))]
    scales = {name: np.concatenate([chunk.scales[name] for chunk in chunks]) for name in chunks[0].scales}
    log_weights, means, sds = (
        np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("log_weights", "means", "sds")
    )
    return Particles(log_weights - log_weights.max(), scales, means, sds)


def _chunk(rng: Generator, model: Model, observations: Observations) -> Particles:
    prior, (m, n) = model.effects, observations.shape
    assert model.rank == 1
    assert prior is not None
    rate, row, column = (_gamma(rng, each) for each in (model.rate, prior.row, prior.column))
    s, precision = rng.exponential(size=CHUNK) / rate, _scaled_f(rng, precision_of(model.noise))
    u, v = _directions(rng, m), _directions(rng, n)
    X = s[:, None, None] * u[:, :, None] * v[:, None, :]
    scales = {"s": s, "lambda": rate, "sigma": precision**-0.5, "row sd": row**-0.5, "column sd": column**-0.5}
    rows, cols, y = observations.triples()
    every_row, every_column = (index.ravel() for index in np.indices((m, n)))
    shared = _shared(1.0 / prior.mean_precision, row, column, (rows, cols), (rows, cols))
    between = _shared(1.0 / prior.mean_precision, row, column, (every_row, every_column), (rows, cols))
    C = shared + np.eye(len(y)) / precision[:, None, None]
    residual = y - prior.mean - X[:, rows, cols]
    solved = np.linalg.solve(C, np.concatenate([residual[:, :, None], between.transpose(0, 2, 1)], axis=2))
    log_weights = -0.5 * (np.linalg.slogdet(C)[1] + np.einsum("ka,ka->k", residual, solved[:, :, 0]))
    means = prior.mean + X + np.einsum("kca,ka->kc", between, solved[:, :, 0]).reshape(X.shape)
    variance = 1.0 / prior.mean_precision + 1.0 / row + 1.0 / column
    variance = variance[:, None] - np.einsum("kca,kac->kc", between, solved[:, :, 1:])
    return Particles(log_weights, scales, means, np.sqrt(variance).reshape(X.shape))


def _shared(
    mean: float, row: Vector, column: Vector, one: tuple[IntVector, IntVector], other: tuple[IntVector, IntVector]
) -> Matrix:
    """Return covariances of the effects between two lists of cells, (K, cells, cells)."""
    same_row, same_column = (a[:, None] == b for a, b in zip(one, other, strict=True))
    return np.asarray(mean + same_row / row[:, None, None] + same_column / column[:, None, None])


def _gamma(rng: Generator, prior: float | Gamma) -> Vector:
    assert isinstance(prior, Gamma)
    return rng.gamma(prior.shape, size=CHUNK) / prior.rate


def _scaled_f(rng: Generator, prior: float | Gamma | ScaledF) -> Vector:
    """Return precisions: ratios of Gamma variables, accepted with probability exp(−floor · γ)."""
    assert isinstance(prior, ScaledF)
    accepted: list[Vector] = []
    while sum(map(len, accepted)) < CHUNK:
        gamma = prior.scale * rng.gamma(prior.shape, size=CHUNK) / rng.gamma(prior.tail, size=CHUNK)
        accepted.append(gamma[rng.random(CHUNK) < np.exp(-prior.floor * gamma)])
    return np.concatenate(accepted)[:CHUNK]


def _directions(rng: Generator, size: int) -> Matrix:
    z = rng.standard_normal((CHUNK, size))
    return np.asarray(z / np.linalg.norm(z, axis=1, keepdims=True))


class Estimate(NamedTuple):
    """A probability, and its standard error."""

    threshold: float
    probability: float
    error: float


def probabilities(given: Particles, shares: tuple[float, ...]) -> dict[str, list[Estimate]]:
    """Return probabilities below rough quantiles of every scale and every cell of the completed matrix."""
    weights = np.exp(given.log_weights)
    weights /= weights.sum()
    known = {}
    for name, values in given.scales.items():
        known[name] = [_estimate(weights, c, values <= c) for c in _quantiles(weights, values, shares)]
    for i, j in np.ndindex(given.means.shape[1:]):
        mean, sd = given.means[:, i, j], given.sds[:, i, j]
        thresholds = _quantiles(weights, mean, shares)
        known[f"total[{i},{j}]"] = [_estimate(weights, c, ndtr((c - mean) / sd)) for c in thresholds]
    return known


def _quantiles(weights: Vector, values: Vector, shares: tuple[float, ...]) -> Vector:
    order = np.argsort(values)
    return np.asarray(values[order[np.searchsorted(np.cumsum(weights[order]), shares)]])


def _estimate(weights: Vector, threshold: float, below: Vector) -> Estimate:
    probability = float(weights @ below)
    return Estimate(float(threshold), probability, float(np.sqrt(weights**2 @ (below - probability) ** 2)))
