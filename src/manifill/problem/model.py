"""The model: a likelihood, a rank and the priors of everything else."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from manifill.problem.likelihoods import Likelihood
from manifill.problem.observations import Observations
from manifill.types import Generator, Vector

__all__ = ["PAPER_NOISE", "Gamma", "Model", "scaled_rate_prior"]


class Gamma(NamedTuple):
    """A Gamma prior with density ∝ v^(shape − 1) exp(−rate · v)."""

    shape: float
    rate: float

    def given(self, count: float, total: float) -> "Gamma":
        """Return the posterior of a quantity v whose likelihood is v^count · exp(−total · v)."""
        return Gamma(self.shape + count, self.rate + total)

    def draw(self, rng: Generator) -> float:
        """Draw from it."""
        return float(rng.gamma(self.shape, 1.0 / self.rate))

    def log_density(self, value: float) -> float:
        """Return the log density up to its constant."""
        return float((self.shape - 1.0) * np.log(value) - self.rate * value)


PAPER_NOISE = Gamma(1e-4, 1e-4)


@dataclass(frozen=True)
class Model:
    """X = U diag(s) Vᵀ, U and V uniform, s_l ~ Exp(λ), y_ij ~ likelihood(X_ij) (docs/math.md, eq. 1–4).

    A number in place of a Gamma prior fixes the quantity.
    """

    rank: int
    likelihood: Likelihood
    rate: float | Gamma  # λ, of the singular values
    precision: float | Gamma = PAPER_NOISE  # γ = 1/σ², of the noise; 1 and without meaning where there is none
    factor_precision: float | Gamma = PAPER_NOISE  # τ = 1/δ², of the entries of A and B in the baseline

    def check(self, observations: Observations) -> None:
        """Raise a ValueError where the rank does not fit the matrix."""
        m, n = observations.shape
        if self.rank > min(m, n):
            raise ValueError(
                f"rank={self.rank} is above min(m, n) = {min(m, n)} of a {m}×{n} matrix; choose a lower one."
            )

    def draw_precision(self, rng: Generator, cells: int, unit_log_likelihood: float) -> float:
        """Draw γ given Σ log p at unit noise, −½ SSE: γ | rest ~ Gamma(α + N/2, β + SSE/2) (docs/math.md, eq. 13)."""
        if not self.likelihood.has_noise:
            return 1.0
        return _draw(rng, self.precision, 0.5 * cells, -unit_log_likelihood)

    def draw_rate(self, rng: Generator, s: Vector) -> float:
        """Draw λ given the singular values: λ | s ~ Gamma(a + r, b + Σ s)."""
        return _draw(rng, self.rate, len(s), float(s.sum()))

    def draw_factor_precision(self, rng: Generator, entries: int, half_squares: float) -> float:
        """Draw τ given the entries of A and B: τ | A, B ~ Gamma(α + (m + n)r/2, β + (‖A‖² + ‖B‖²)/2)."""
        return _draw(rng, self.factor_precision, 0.5 * entries, half_squares)

    def log_density(self, cells: int, unit_log_likelihood: float, s: Vector, precision: float, rate: float) -> float:
        """Return the joint log density of data and parameters, up to a constant (docs/math.md, eq. 5)."""
        prior = len(s) * np.log(rate) - rate * float(s.sum()) + _log_prior(self.rate, rate)
        return float(self._log_likelihood(cells, unit_log_likelihood, precision) + prior)

    def factors_log_density(
        self,
        cells: int,
        unit_log_likelihood: float,
        precision: float,
        entries: int,
        half_squares: float,
        factor_precision: float,
    ) -> float:
        """Return the same for the baseline X = A Bᵀ, whose (m + n)r = ``entries`` numbers are N(0, 1/τ)."""
        prior = 0.5 * entries * np.log(factor_precision) - factor_precision * half_squares
        prior += _log_prior(self.factor_precision, factor_precision)
        return float(self._log_likelihood(cells, unit_log_likelihood, precision) + prior)

    def _log_likelihood(self, cells: int, unit_log_likelihood: float, precision: float) -> float:
        """Return log p(y | X, γ) and the prior of γ."""
        total = precision * unit_log_likelihood
        if self.likelihood.has_noise:
            total += 0.5 * cells * np.log(precision) + _log_prior(self.precision, precision)
        return float(total)


def _draw(rng: Generator, prior: float | Gamma, count: float, total: float) -> float:
    return prior.given(count, total).draw(rng) if isinstance(prior, Gamma) else prior


def _log_prior(prior: float | Gamma, value: float) -> float:
    return prior.log_density(value) if isinstance(prior, Gamma) else 0.0


def scaled_rate_prior(rank: int, observations: Observations, likelihood: Likelihood) -> Gamma:
    """Return a weak prior of λ on the scale of the data.

    A matrix of rank r whose entries are of size ρ has singular values of about ρ √(mn/r).  The prior is exponential
    with 1/λ of that size, so it tells the scale and little else.
    """
    x = likelihood.starting_point(likelihood.encode(observations.by_row.values))
    size = float(np.sqrt(np.mean(x**2)))
    m, n = observations.shape
    return Gamma(1.0, (size if size > 0.0 else 1.0) * float(np.sqrt(m * n / rank)))
