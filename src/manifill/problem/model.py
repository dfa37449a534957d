"""The model: a likelihood, a rank and the priors of all other unknowns."""

from dataclasses import dataclass

import numpy as np

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Generator, Vector
from manifill.base.priors import PAPER_NOISE, Gamma, draw_given, log_prior
from manifill.likelihoods import WITHOUT_NOISE, Likelihood, NoiseModel, NoiseState
from manifill.problem.observations import Observations
from manifill.unknowns import Effects, EffectsPrior, Unknowns

__all__ = ["Model", "check_rank"]


def check_rank(rank: int, shape: tuple[int, int]) -> None:
    """Raise a ValueError if the rank is too high for a matrix of this shape."""
    m, n = shape
    if rank > min(m, n):
        raise ValueError(
            Wording(
                Argument("rank", rank), f" is above min(m, n) = {min(m, n)} of a {m}×{n} matrix; choose a lower one."
            )
        )


@dataclass(frozen=True)
class Model:
    """X = U diag(s) Vᵀ, U and V uniform, s_l ~ Exp(λ), y_ij ~ likelihood(X_ij) (docs/math.md, eq. 1–4).

    With ``effects``, y_ij ~ likelihood(μ + a_i + b_j + X_ij).  A number in place of a prior fixes the parameter.
    """

    rank: int
    likelihood: Likelihood
    rate: float | Gamma  # λ, the rate of the singular values
    noise: NoiseModel = WITHOUT_NOISE  # γ, the noise precision of the likelihood
    factor_precision: float | Gamma = PAPER_NOISE  # τ = 1/δ², the precision of the entries of A and B in the baseline
    effects: EffectsPrior | None = None

    def check(self, observations: Observations) -> None:
        """Raise a ValueError if the rank is too high for the matrix."""
        check_rank(self.rank, observations.shape)

    def draw_rate(self, rng: Generator, s: Vector) -> float:
        """Draw λ given the singular values: λ | s ~ Gamma(a + r, b + Σ s)."""
        return draw_given(rng, self.rate, len(s), float(s.sum()))

    def draw_factor_precision(self, rng: Generator, entries: int, half_squares: float) -> float:
        """Draw τ given the entries of A and B: τ | A, B ~ Gamma(α + (m + n)r/2, β + (‖A‖² + ‖B‖²)/2)."""
        return draw_given(rng, self.factor_precision, 0.5 * entries, half_squares)

    def log_density(
        self, counts: Vector, unit_log_likelihoods: Vector, noise: NoiseState, unknowns: Unknowns, rate: float
    ) -> float:
        """Return the joint log density of data and parameters, up to a constant (docs/math.md, eq. 5)."""
        s, z = unknowns.s, unknowns.coordinates
        prior = len(s) * np.log(rate) - rate * float(s.sum()) + log_prior(self.rate, rate) - 0.5 * float(z @ z)
        if self.effects is not None:
            prior += _log_effects(self.effects, unknowns.effects)
        return float(self.noise.log_density(counts, unit_log_likelihoods, noise) + prior)

    def factors_log_density(
        self,
        counts: Vector,
        unit_log_likelihoods: Vector,
        noise: NoiseState,
        entries: int,
        half_squares: float,
        factor_precision: float,
    ) -> float:
        """Return the same for the baseline X = A Bᵀ, whose (m + n)r = ``entries`` entries are N(0, 1/τ)."""
        prior = 0.5 * entries * np.log(factor_precision) - factor_precision * half_squares
        prior += log_prior(self.factor_precision, factor_precision)
        return float(self.noise.log_density(counts, unit_log_likelihoods, noise) + prior)


def _log_effects(prior: EffectsPrior, effects: Effects) -> float:
    """Return the log prior density of the effects and their precisions."""
    total = -0.5 * prior.mean_precision * (effects.mean - prior.mean) ** 2
    for values, precision, of_precision in (
        (effects.row, effects.row_precision, prior.row),
        (effects.column, effects.column_precision, prior.column),
    ):
        total += 0.5 * values.size * np.log(precision) - 0.5 * precision * float(values @ values)
        total += log_prior(of_precision, precision)
    return float(total)
