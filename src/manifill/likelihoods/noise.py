"""The noise of likelihoods that have one: σ for all cells or for each column, its prior, and its exact draws.

A likelihood with noise is γ^(N/2) exp(γ · Σ log p at unit noise), γ = 1/σ², so γ is conjugate to Gamma priors: it can
be integrated out of the density and drawn afterwards (docs/math.md, eq. 13).  Likelihoods without noise have a fixed
γ = 1; ``WithoutNoise`` has the same interface, so that samplers treat both alike.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from manifill.base.arrays import Array, Generator, Vector
from manifill.base.priors import PAPER_NOISE, Gamma, Marginal, ScaledF, log_prior
from manifill.base.variables import Variable

__all__ = ["WITHOUT_NOISE", "NoiseModel", "NoiseState", "WithNoise", "WithoutNoise", "with_noise"]

# Gibbs sweeps over the precisions and their rate given the residuals; they are cheap compared with a pass over cells.
SWEEPS = 5


class NoiseState(NamedTuple):
    """The noise of one draw: a precision for all cells (1,) or for each column (n,), and the rate of its prior."""

    precision: Vector
    rate: float


def with_noise(unit: Vector, sigma: Array | float) -> Vector:
    """Return log densities at noise σ from those at unit noise, (k,); ``sigma`` is a number or (k,)."""
    return np.asarray(unit / np.square(sigma) - np.log(sigma))


class NoiseModel(Protocol):
    """What samplers ask of the noise.  ``unit`` is Σ log p at unit noise over each group of cells that shares a γ."""

    @property
    def by_column(self) -> bool:
        """Whether each column is a group; otherwise all cells are one."""

    @property
    def is_learned(self) -> bool:
        """Whether draws differ in it."""

    def variables(self, columns: int) -> tuple[Variable, ...]:
        """Return what a draw holds."""

    def values(self, state: NoiseState) -> dict[str, Array]:
        """Return the variables of a state."""

    def start(self) -> NoiseState:
        """Return the state before the first draw; only the rate of the prior counts."""

    def draw(self, rng: Generator, counts: Vector, unit: Vector, state: NoiseState) -> NoiseState:
        """Draw all precisions given the residuals of groups with so many cells."""

    def marginal(self, state: NoiseState, cells: int) -> tuple[Vector, Marginal]:
        """Return known precisions of the columns, or none (0,), and the factor with γ integrated out otherwise."""

    def log_density(self, counts: Vector, unit: Vector, state: NoiseState) -> float:
        """Return log p(y | X, γ) and the log prior of γ, up to a constant."""


@dataclass(frozen=True)
class WithoutNoise:
    """Of a likelihood without noise: γ is 1."""

    by_column = False
    is_learned = False

    def variables(self, columns: int) -> tuple[Variable, ...]:
        return ()

    def values(self, state: NoiseState) -> dict[str, Array]:
        return {}

    def start(self) -> NoiseState:
        return NoiseState(np.ones(1), 0.0)

    def draw(self, rng: Generator, counts: Vector, unit: Vector, state: NoiseState) -> NoiseState:
        return self.start()

    def marginal(self, state: NoiseState, cells: int) -> tuple[Vector, Marginal]:
        return np.empty(0), Marginal.over(1.0, 0.0)

    def log_density(self, counts: Vector, unit: Vector, state: NoiseState) -> float:
        return float(unit.sum())


WITHOUT_NOISE = WithoutNoise()


@dataclass(frozen=True)
class WithNoise:
    """y = location(x) + ε, ε ~ N(0, 1/γ), with a prior of γ, or a number if γ is known."""

    precision: float | Gamma | ScaledF = PAPER_NOISE
    by_column: bool = False

    @property
    def is_learned(self) -> bool:
        return isinstance(self.precision, (Gamma, ScaledF))

    def variables(self, columns: int) -> tuple[Variable, ...]:
        return (Variable("sigma", ("column",), (columns,)) if self.by_column else Variable("sigma", (), ()),)

    def values(self, state: NoiseState) -> dict[str, Array]:
        sigma = state.precision**-0.5
        return {"sigma": sigma if self.by_column else sigma[0]}

    def start(self) -> NoiseState:
        rate = self.precision.typical_rate() if isinstance(self.precision, ScaledF) else 0.0
        return NoiseState(np.ones(1), rate)

    def given_rate(self, rate: float) -> float | Gamma:
        """Return the prior of γ given its rate."""
        return self.precision.given_rate(rate) if isinstance(self.precision, ScaledF) else self.precision

    def draw(self, rng: Generator, counts: Vector, unit: Vector, state: NoiseState) -> NoiseState:
        precisions, rate = np.ones(len(counts)), state.rate
        if isinstance(self.precision, ScaledF):
            rate = self.precision.sweep(rng, 0.5 * counts, -unit, precisions, rate, SWEEPS)
        elif isinstance(self.precision, Gamma):
            precisions[:] = rng.standard_gamma(self.precision.shape + 0.5 * counts) / (self.precision.rate - unit)
        else:
            precisions[:] = self.precision
        return NoiseState(precisions, rate)

    def marginal(self, state: NoiseState, cells: int) -> tuple[Vector, Marginal]:
        if self.by_column:
            return state.precision, Marginal.over(1.0, 0.0)
        return np.empty(0), Marginal.over(self.given_rate(state.rate), 0.5 * cells)

    def log_density(self, counts: Vector, unit: Vector, state: NoiseState) -> float:
        total = float(state.precision @ unit) + 0.5 * float(counts @ np.log(state.precision))
        if isinstance(self.precision, ScaledF):
            return total + self.precision.log_density(state.precision, state.rate)
        return total + sum(log_prior(self.precision, float(value)) for value in state.precision)
