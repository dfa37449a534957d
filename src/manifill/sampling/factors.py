"""The baseline: X = A Bᵀ with Gaussian factors, by Gibbs sampling (Salakhutdinov and Mnih 2008; docs/math.md, §2)."""

from typing import NamedTuple

import numpy as np

from manifill.posterior.variables import Variable
from manifill.problem import Gaussian, Model, Noise, Observations
from manifill.problem.passes import log_likelihood
from manifill.sampling.rows import draw_rows
from manifill.sampling.start import warm_start
from manifill.types import Array, Generator, Matrix

__all__ = ["Factors", "FactorsState"]


class FactorsState(NamedTuple):
    """The unknowns, and what the last step knows of their density."""

    A: Matrix  # (m, r)
    B: Matrix  # (n, r)
    noise: Noise
    factor_precision: float  # τ
    log_density: float


class Factors:
    """``sampler="factors"``: one step draws all rows of A, all rows of B, γ and τ, each from its exact conditional."""

    def __init__(self, model: Model, observations: Observations) -> None:
        model.check(observations)
        if not isinstance(model.likelihood, Gaussian):
            raise ValueError(
                f"sampler='factors' is conjugate to the Gaussian likelihood only, not to {model.likelihood.name!r}; "
                "choose sampler='joint' for it."
            )
        if model.effects is not None or model.noise_by_column:
            raise ValueError(
                "sampler='factors' is the plain A Bᵀ model, with one noise and no effects; leave out effects and noise."
            )
        self.model = model
        self.observations = observations
        self._counts = np.array([float(observations.size)])

    @property
    def variables(self) -> tuple[Variable, ...]:
        (m, n), r = self.observations.shape, self.model.rank
        return (
            Variable("A", ("row", "component"), (m, r)),
            Variable("B", ("column", "component"), (n, r)),
            Variable("sigma", (), ()),
            Variable("tau", (), ()),
        )

    @property
    def statistic_names(self) -> tuple[str, ...]:
        return ("lp",)

    @property
    def classes(self) -> tuple[type, ...]:
        return (FactorsState, Noise)

    def start(self, rng: Generator) -> tuple[FactorsState, None]:
        U, s, V, _ = warm_start(rng, self.observations, self.model)
        return self._with_precisions(rng, U * np.sqrt(s), V * np.sqrt(s), self.model.first_noise_rate), None

    def step(self, rng: Generator, state: FactorsState, tuning: None) -> tuple[FactorsState, None]:
        A, B = np.empty_like(state.A), np.empty_like(state.B)
        precision = float(state.noise.precision[0])
        draw_rows(rng, self.observations.by_row, precision, state.factor_precision, state.B, A)
        draw_rows(rng, self.observations.by_column, precision, state.factor_precision, A, B)
        return self._with_precisions(rng, A, B, state.noise.rate), None

    def adapt(self, tuning: None, info: None) -> None:
        return None

    def freeze(self, tuning: None) -> None:
        return None

    def draw(self, state: FactorsState) -> dict[str, Array]:
        sigma, tau = state.noise.precision[0] ** -0.5, np.asarray(state.factor_precision)
        return {"A": state.A, "B": state.B, "sigma": sigma, "tau": tau}

    def statistics(self, state: FactorsState, tuning: None, info: None) -> dict[str, float]:
        return {"lp": state.log_density}

    def _with_precisions(self, rng: Generator, A: Matrix, B: Matrix, noise_rate: float) -> FactorsState:
        """Return the state with γ and τ drawn given A and B."""
        counts, entries = self._counts, A.size + B.size
        unit = np.array([log_likelihood(self.observations.by_row, self.model.likelihood, A, B)])
        squares = 0.5 * float(np.vdot(A, A) + np.vdot(B, B))
        noise = self.model.draw_noise(rng, counts, unit, noise_rate)
        factor_precision = self.model.draw_factor_precision(rng, entries, squares)
        log_density = self.model.factors_log_density(counts, unit, noise, entries, squares, factor_precision)
        return FactorsState(A, B, noise, factor_precision, log_density)
