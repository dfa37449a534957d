"""The model: a likelihood, a rank and the priors of all other unknowns."""

from dataclasses import dataclass

import numpy as np

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.priors import PAPER_NOISE, ComponentGamma, Gamma, draw_given, log_prior
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
    factor_precision: float | Gamma | ComponentGamma = PAPER_NOISE  # τ, of the entries of A and B if X = A Bᵀ
    effects: EffectsPrior | None = None

    def check(self, observations: Observations) -> None:
        """Raise a ValueError if the rank is too high for the matrix."""
        check_rank(self.rank, observations.shape)

    def draw_rate(self, rng: Generator, s: Vector) -> float:
        """Draw λ given the singular values: λ | s ~ Gamma(a + r, b + Σ s)."""
        return draw_given(rng, self.rate, len(s), float(s.sum()))

    def draw_factor_precisions(self, rng: Generator, A: Matrix, B: Matrix) -> tuple[Vector, Vector]:
        """Draw the precisions of the columns of A and of B, (r,) each, given them (docs/math.md, §2.5).

        If all entries share τ, it is Gamma(α + (m + n)r/2, β + (‖A‖² + ‖B‖²)/2).
        """
        prior, r = self.factor_precision, A.shape[1]
        if isinstance(prior, ComponentGamma):
            left, right = (rng.standard_gamma(prior.shape + 0.5 * len(side), r) for side in (A, B))
            return left / (prior.rate + half_column_squares(A)), right / (prior.rate + half_column_squares(B))
        half_squares = float(half_column_squares(A).sum() + half_column_squares(B).sum())
        shared = draw_given(rng, prior, 0.5 * (A.size + B.size), half_squares)
        return np.full(r, shared), np.full(r, shared)

    def log_density(self, log_likelihood: float, noise: NoiseState, unknowns: Unknowns, rate: float) -> float:
        """Return the joint log density of data and parameters, up to a constant (docs/math.md, eq. 5).

        ``log_likelihood`` is that of the data given all parameters.
        """
        s, z = unknowns.s, unknowns.coordinates
        prior = len(s) * np.log(rate) - rate * float(s.sum()) + log_prior(self.rate, rate) - 0.5 * float(z @ z)
        if self.effects is not None:
            prior += _log_effects(self.effects, unknowns.effects)
        return float(log_likelihood + self.noise.log_prior(noise) + prior)

    def factors_log_density(
        self,
        log_likelihood: float,
        noise: NoiseState,
        A: Matrix,
        B: Matrix,
        effects: Effects,
        taus: tuple[Vector, Vector],
    ) -> float:
        """Return the same for X = A Bᵀ, whose columns have entries N(0, 1/τ) with the precisions ``taus``."""
        prior = 0.0
        for side, tau in zip((A, B), taus, strict=True):
            prior += float(0.5 * len(side) * np.log(tau).sum() - tau @ half_column_squares(side))
            if isinstance(self.factor_precision, ComponentGamma):
                prior += sum(self.factor_precision.each.log_density(float(value)) for value in tau)
        if not isinstance(self.factor_precision, ComponentGamma):
            prior += log_prior(self.factor_precision, float(taus[0][0]))
        if self.effects is not None:
            prior += _log_effects(self.effects, effects)
        return float(log_likelihood + self.noise.log_prior(noise) + prior)


def half_column_squares(side: Matrix) -> Vector:
    """Return half the squared lengths of the columns, (r,)."""
    return np.asarray(0.5 * np.einsum("ij,ij->j", side, side))


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
