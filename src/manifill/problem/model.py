"""The model: a likelihood, a rank and the priors of everything else."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from manifill.problem.effects import Effects, EffectsPrior
from manifill.problem.likelihoods import Likelihood
from manifill.problem.observations import Observations
from manifill.problem.priors import PAPER_NOISE, Gamma, ScaledF
from manifill.types import Generator, Vector

__all__ = ["Model", "Noise", "check_rank"]

# Gibbs sweeps over the noise and its rate given the residuals; they cost nothing beside a pass over the data.
NOISE_SWEEPS = 5


class Noise(NamedTuple):
    """The noise of one draw: a precision for all cells (1,) or for each column (n,), and the rate of its prior."""

    precision: Vector
    rate: float


def check_rank(rank: int, shape: tuple[int, int]) -> None:
    """Raise a ValueError where the rank does not fit a matrix of this shape."""
    m, n = shape
    if rank > min(m, n):
        raise ValueError(f"rank={rank} is above min(m, n) = {min(m, n)} of a {m}×{n} matrix; choose a lower one.")


@dataclass(frozen=True)
class Model:
    """X = U diag(s) Vᵀ, U and V uniform, s_l ~ Exp(λ), y_ij ~ likelihood(X_ij) (docs/math.md, eq. 1–4).

    With ``effects``, y_ij ~ likelihood(μ + a_i + b_j + X_ij).  A number in place of a prior fixes the quantity.
    """

    rank: int
    likelihood: Likelihood
    rate: float | Gamma  # λ, of the singular values
    precision: float | Gamma | ScaledF = (
        PAPER_NOISE  # γ = 1/σ², of the noise; 1 and without meaning where there is none
    )
    factor_precision: float | Gamma = PAPER_NOISE  # τ = 1/δ², of the entries of A and B in the baseline
    effects: EffectsPrior | None = None
    noise_by_column: bool = False

    def check(self, observations: Observations) -> None:
        """Raise a ValueError where the rank does not fit the matrix."""
        check_rank(self.rank, observations.shape)

    @property
    def first_noise_rate(self) -> float:
        """Where the rate of the noise's prior starts, if it is learned."""
        return self.precision.typical_rate() if isinstance(self.precision, ScaledF) else 0.0

    def noise_prior(self, rate: float) -> float | Gamma:
        """Return the prior of γ given its rate; the likelihoods without noise have a known γ of 1."""
        if not self.likelihood.has_noise:
            return 1.0
        return self.precision.given_rate(rate) if isinstance(self.precision, ScaledF) else self.precision

    def draw_noise(self, rng: Generator, counts: Vector, unit_log_likelihoods: Vector, rate: float) -> Noise:
        """Draw γ given Σ log p at unit noise, −½ SSE, of each group of cells that shares one (docs/math.md, eq. 13)."""
        precisions = np.ones(len(counts))
        if not self.likelihood.has_noise:
            return Noise(precisions, rate)
        if isinstance(self.precision, ScaledF):
            rate = self.precision.sweep(rng, 0.5 * counts, -unit_log_likelihoods, precisions, rate, NOISE_SWEEPS)
        elif isinstance(self.precision, Gamma):
            shapes, rates = self.precision.shape + 0.5 * counts, self.precision.rate - unit_log_likelihoods
            precisions[:] = rng.standard_gamma(shapes) / rates
        else:
            precisions[:] = self.precision
        return Noise(precisions, rate)

    def draw_rate(self, rng: Generator, s: Vector) -> float:
        """Draw λ given the singular values: λ | s ~ Gamma(a + r, b + Σ s)."""
        return _draw(rng, self.rate, len(s), float(s.sum()))

    def draw_factor_precision(self, rng: Generator, entries: int, half_squares: float) -> float:
        """Draw τ given the entries of A and B: τ | A, B ~ Gamma(α + (m + n)r/2, β + (‖A‖² + ‖B‖²)/2)."""
        return _draw(rng, self.factor_precision, 0.5 * entries, half_squares)

    def log_density(
        self, counts: Vector, unit_log_likelihoods: Vector, noise: Noise, s: Vector, rate: float, effects: Effects
    ) -> float:
        """Return the joint log density of data and parameters, up to a constant (docs/math.md, eq. 5)."""
        prior = len(s) * np.log(rate) - rate * float(s.sum()) + _log_prior(self.rate, rate)
        if self.effects is not None:
            prior += _log_effects(self.effects, effects)
        return float(self._log_likelihood(counts, unit_log_likelihoods, noise) + prior)

    def factors_log_density(
        self,
        counts: Vector,
        unit_log_likelihoods: Vector,
        noise: Noise,
        entries: int,
        half_squares: float,
        factor_precision: float,
    ) -> float:
        """Return the same for the baseline X = A Bᵀ, whose (m + n)r = ``entries`` numbers are N(0, 1/τ)."""
        prior = 0.5 * entries * np.log(factor_precision) - factor_precision * half_squares
        prior += _log_prior(self.factor_precision, factor_precision)
        return float(self._log_likelihood(counts, unit_log_likelihoods, noise) + prior)

    def _log_likelihood(self, counts: Vector, unit: Vector, noise: Noise) -> float:
        """Return log p(y | X, γ) and the prior of γ."""
        total = float(noise.precision @ unit)
        if not self.likelihood.has_noise:
            return total
        total += 0.5 * float(counts @ np.log(noise.precision))
        if isinstance(self.precision, ScaledF):
            return total + self.precision.log_density(noise.precision, noise.rate)
        return total + sum(_log_prior(self.precision, float(value)) for value in noise.precision)


def _log_effects(prior: EffectsPrior, effects: Effects) -> float:
    """Return the log density of effects and their precisions."""
    total = -0.5 * prior.mean_precision * (effects.mean - prior.mean) ** 2
    for values, precision, of_precision in (
        (effects.row, effects.row_precision, prior.row),
        (effects.column, effects.column_precision, prior.column),
    ):
        total += 0.5 * values.size * np.log(precision) - 0.5 * precision * float(values @ values)
        total += _log_prior(of_precision, precision)
    return float(total)


def _draw(rng: Generator, prior: float | Gamma, count: float, total: float) -> float:
    return prior.given(count, total).draw(rng) if isinstance(prior, Gamma) else prior


def _log_prior(prior: float | Gamma, value: float) -> float:
    return prior.log_density(value) if isinstance(prior, Gamma) else 0.0
