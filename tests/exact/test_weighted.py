"""The exact answers by another way to the same integrals: draws from the prior, weighted by the likelihood.

The noise is drawn here too, through its rate where it has one, and so are effects, which the quadrature integrates out.
There are 196 comparisons with |z| < 4: false-alarm rate 1.2 %.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.priors import ScaledF
from manifill.likelihoods import WithNoise
from manifill.problem import Model
from tests.exact import baseline
from tests.exact.cases import CASES, Case

DRAWS, BOUND = 400_000, 4.0
NAMES = [
    "gaussian, known noise",
    "gaussian, heavy-tailed noise",
    "gaussian, effects",
    "joint, gaussian, noise by column",
    "joint, gaussian, student",
    "softplus, known noise",
    "factors, known precisions",
]


class Draws(NamedTuple):
    """Draws from the prior."""

    X: Matrix  # (draws, 3, 2)
    total: Matrix  # with effects
    precision: Matrix  # (draws, 2), one per column
    rate: Vector  # of the noise's prior
    degrees: Vector  # of freedom

    @property
    def quantities(self) -> dict[str, Vector]:
        known = {f"X[{i},{j}]": self.X[:, i, j] for i, j in np.ndindex(3, 2)}
        known |= {f"total[{i},{j}]": self.total[:, i, j] for i, j in np.ndindex(3, 2)}
        factor = (self.precision[:, 0] / 2.5) ** -0.5  # γ is 2.5 if there are factors
        sigma = self.precision[:, 0] ** -0.5
        return known | {"sigma": sigma, "column_noise[0]": factor, "noise rate": self.rate, "1/nu": 1.0 / self.degrees}


def prior_draws(case: Case, rng: Generator) -> Draws:
    """Return draws from the prior of a case with rate 1 or factor precision 0.8."""
    u, v = rng.standard_normal((DRAWS, 3)), rng.standard_normal((DRAWS, 2))
    X = u[:, :, None] * v[:, None, :] / 0.8
    if case.marginals is not baseline.marginals:
        s = rng.exponential(size=DRAWS) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
        X = s[:, None, None] * u[:, :, None] * v[:, None, :]
    precision, rate, degrees = noise(case.model, rng)
    return Draws(X, X + effects(case.model, rng), precision, rate, degrees)


def effects(model: Model, rng: Generator) -> Matrix | float:
    prior = model.effects
    if prior is None:
        return 0.0
    mean = prior.mean + rng.standard_normal((DRAWS, 1, 1)) / np.sqrt(prior.mean_precision)
    row, column = rng.standard_normal((DRAWS, 3, 1)), rng.standard_normal((DRAWS, 1, 2))
    return np.asarray(mean + row / np.sqrt(prior.row) + column / np.sqrt(prior.column))


def noise(model: Model, rng: Generator) -> tuple[Matrix, Vector, Vector]:
    assert isinstance(model.noise, WithNoise)
    prior, rate, degrees = model.noise.precision, np.zeros(DRAWS), np.full(DRAWS, np.inf)
    if model.noise.tails is not None:
        degrees = 2.0 + rng.gamma(model.noise.tails.shape, size=DRAWS) / model.noise.tails.rate
    if isinstance(prior, ScaledF):
        rate = rng.gamma(prior.tail, size=8 * DRAWS) / prior.scale
        rate = rate[rng.random(8 * DRAWS) < (1.0 + prior.floor / rate) ** -prior.shape][:DRAWS]
        gamma = rng.gamma(prior.shape, size=DRAWS) / (rate + prior.floor)
        return np.stack([gamma, gamma], axis=1), rate, degrees
    assert isinstance(prior, float)
    precision = np.full((DRAWS, 2), prior)
    if model.noise.columns is not None:
        shape = (model.noise.columns.scale * np.tan(0.5 * np.pi * rng.random(4 * DRAWS))) ** -2.0
        shape = shape[(shape > 4.0) & (shape < 1e6)][:DRAWS, None]
        precision *= rng.gamma(shape, size=(DRAWS, 2)) / shape
    return precision, rate, degrees


def weights(case: Case, draws: Draws) -> Vector:
    log_weight = np.zeros(DRAWS)
    for i, j, y in zip(*case.observations.triples(), strict=True):
        x, precision = draws.total[:, i, j], draws.precision[:, j]
        mean = np.log1p(np.exp(x)) if case.model.likelihood.name == "softplus" else x
        residual = np.sqrt(precision) * (y - mean)
        log_weight += 0.5 * np.log(precision)
        finite = np.isfinite(draws.degrees[0])
        log_weight += stats.t.logpdf(residual, draws.degrees) if finite else stats.norm.logpdf(residual)
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(weight / weight.sum())


def z_scores(name: str) -> Vector:
    """Return the differences in means and probabilities, in standard errors; those of s are not compared."""
    case, scores = CASES[name], []
    draws = prior_draws(case, np.random.default_rng(1))
    w, known = weights(case, draws), case.marginals(case.model, case.observations)
    for quantity in known.keys() & draws.quantities.keys():
        x, exact = draws.quantities[quantity], known[quantity]
        columns = np.stack([x, *(x <= threshold for threshold in exact.thresholds)], axis=1)
        expected = np.array([exact.mean, *exact.probabilities])
        error = np.sqrt(w**2 @ (columns - expected) ** 2)
        scores += ((w @ columns - expected) / error).tolist()
    return np.array(scores)


def test_weighted_prior_draws_agree() -> None:
    scores = {name: z_scores(name) for name in NAMES}
    assert sum(len(z) for z in scores.values()) == 196
    assert all(np.abs(z).max() < BOUND for z in scores.values()), scores
