"""The baseline: Gibbs sampling of X = A Bᵀ with Gaussian factors (Salakhutdinov and Mnih 2008; docs/math.md, §2)."""

from typing import NamedTuple

import numpy as np

from manifill.base.argument_words import Argument, Wording, joined
from manifill.base.arrays import Array, Generator, Matrix
from manifill.base.variables import Variable
from manifill.kernels.cell_passes import log_likelihood
from manifill.kernels.row_conditionals import draw_rows
from manifill.likelihoods import NoiseState
from manifill.problem import Model, Observations
from manifill.sampling.sampler import Kernel
from manifill.sampling.warm_start import warm_start

__all__ = ["Factors", "FactorsState"]


class FactorsState(NamedTuple):
    """The unknowns and their log density."""

    A: Matrix  # (m, r)
    B: Matrix  # (n, r)
    noise: NoiseState
    factor_precision: float  # τ
    log_density: float


class Factors:
    """``sampler="factors"``: one step draws all rows of A, all rows of B, γ and τ, each from its exact conditional."""

    def __init__(self, model: Model, observations: Observations) -> None:
        model.check(observations)
        if not model.likelihood.is_conjugate:
            only = f" supports only the Gaussian likelihood, not {model.likelihood.name!r}; use "
            raise ValueError(Wording(Argument("sampler", "factors"), only, Argument("sampler", "joint"), "."))
        if model.effects is not None or model.noise.by_column:
            raise ValueError(
                Wording(
                    Argument("sampler", "factors"),
                    " supports neither effects nor ",
                    Argument("noise", "column"),
                    "; set ",
                    *joined([Argument("effects", None), Argument("noise", "shared")]),
                    ".",
                )
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
            *self.model.noise.variables(n),
            Variable("tau", (), ()),
        )

    @property
    def statistic_names(self) -> tuple[str, ...]:
        return ("lp",)

    @property
    def classes(self) -> tuple[type, ...]:
        return (FactorsState, NoiseState)

    def kernels(self) -> tuple[Kernel, ...]:
        return ()

    def start(self, rng: Generator) -> tuple[FactorsState, None]:
        begin = warm_start(rng, self.observations, self.model)
        root = np.sqrt(begin.s)
        return self._with_precisions(rng, begin.U * root, begin.V * root, self.model.noise.start()), None

    def step(self, rng: Generator, state: FactorsState, tuning: None) -> tuple[FactorsState, None]:
        A, B = np.empty_like(state.A), np.empty_like(state.B)
        precision = float(state.noise.precision[0])
        draw_rows(rng, self.observations.by_row, precision, state.factor_precision, state.B, A)
        draw_rows(rng, self.observations.by_column, precision, state.factor_precision, A, B)
        return self._with_precisions(rng, A, B, state.noise), None

    def adapt(self, tuning: None, info: None) -> None:
        return None

    def freeze(self, tuning: None) -> None:
        return None

    def draw(self, state: FactorsState) -> dict[str, Array]:
        noise = self.model.noise.values(state.noise)
        return {"A": state.A, "B": state.B, **noise, "tau": np.asarray(state.factor_precision)}

    def statistics(self, state: FactorsState, tuning: None, info: None) -> dict[str, float]:
        return {"lp": state.log_density}

    def _with_precisions(self, rng: Generator, A: Matrix, B: Matrix, noise: NoiseState) -> FactorsState:
        """Return the state with γ and τ drawn given A and B."""
        counts, entries = self._counts, A.size + B.size
        unit = np.array([log_likelihood(self.observations.by_row, self.model.likelihood.compiled(), A, B)])
        squares = 0.5 * float(np.vdot(A, A) + np.vdot(B, B))
        noise = self.model.noise.draw(rng, counts, unit, noise)
        factor_precision = self.model.draw_factor_precision(rng, entries, squares)
        log_density = self.model.factors_log_density(counts, unit, noise, entries, squares, factor_precision)
        return FactorsState(A, B, noise, factor_precision, log_density)
