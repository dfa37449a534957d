"""The noise of likelihoods that have one: y = location(x) + ε, with a precision for each cell (docs/math.md, §2.6).

The cell (i, j) has the precision γ α_i β_j ω_ij.  γ is common to all cells.  α_i and β_j are factors of rows and
columns, drawn about 1 from Gamma distributions whose widths are learned.  ω_ij makes the tails of a cell those of
Student's t.  A model has any of the last three, or none.  Log densities are evaluated at unit noise.  γ is integrated
out of the density and drawn afterwards (eq. 13); α, β and ω are drawn given the residuals.  ω is never stored.
Likelihoods without noise have γ = 1; ``WithoutNoise`` has the same interface, so that samplers treat both alike.
"""

from dataclasses import dataclass
from math import inf, lgamma, log
from typing import NamedTuple, Protocol

import numpy as np

from manifill.base.arrays import Array, Vector
from manifill.base.priors import PAPER_NOISE, Gamma, Marginal, ScaledF, log_prior
from manifill.base.variables import Variable

__all__ = [
    "NOISE_FACTORS",
    "SMALLEST_DEGREES",
    "SMALLEST_SHAPE",
    "WITHOUT_NOISE",
    "NoiseModel",
    "NoiseState",
    "Spread",
    "Tails",
    "WithNoise",
    "WithoutNoise",
]

# The widths of row and column factors are at most ½.  Without a bound a column can be fitted exactly by a component of
# its own, at no cost in the posterior density, and its factor grows to the limit of its prior (a Heywood case).  The
# variance of Student's t exists only if the degrees of freedom are above 2.
SMALLEST_SHAPE, SMALLEST_DEGREES = 4.0, 2.0

# Variables of a draw that multiply σ, by their dimension.
NOISE_FACTORS = {"row": "row_noise", "column": "column_noise"}


class Spread(NamedTuple):
    """The prior of the width of row or column factors, which are Gamma(a, a) of standard deviation w = a^(−½).

    w is half-Cauchy with this scale, below SMALLEST_SHAPE^(−½).  Its density is largest at 0, which is shared noise.
    """

    scale: float

    def log_density(self, shape: float) -> float:
        """Return the log density of log a up to its constant."""
        if shape <= SMALLEST_SHAPE:
            return -inf
        return float(-0.5 * log(shape) - log(1.0 + 1.0 / (shape * self.scale**2)))


class Tails(NamedTuple):
    """The prior of the degrees of freedom ν: ν − SMALLEST_DEGREES ~ Gamma(shape, rate), after Juárez and Steel (2010).

    With a shape above 1 the mean of the variance of y, ∝ ν/(ν − 2), exists.
    """

    shape: float
    rate: float

    def log_density(self, degrees: float) -> float:
        """Return the log density of log ν up to its constant."""
        above = degrees - SMALLEST_DEGREES
        return -inf if above <= 0.0 else float((self.shape - 1.0) * log(above) - self.rate * above + log(degrees))


class NoiseState(NamedTuple):
    """The noise of one draw; arrays are empty if the model does not have their factors."""

    precision: float  # γ
    rate: float  # of the prior of γ, if that is learned
    row: Vector  # α, (m,) or (0,)
    row_shape: float  # of their prior
    column: Vector  # β, (n,) or (0,)
    column_shape: float
    degrees: float  # ν; infinite for normal tails

    @classmethod
    def shared(cls, precision: float, rate: float = 0.0) -> "NoiseState":
        """Return normal noise with one precision for all cells."""
        return cls(precision, rate, np.empty(0), inf, np.empty(0), inf, inf)


class NoiseModel(Protocol):
    """What samplers ask of the noise."""

    @property
    def is_shared(self) -> bool:
        """Whether all cells have the same normal noise."""

    @property
    def is_learned(self) -> bool:
        """Whether draws differ in it."""

    def variables(self, shape: tuple[int, int]) -> tuple[Variable, ...]:
        """Return what a draw holds."""

    def values(self, state: NoiseState) -> dict[str, Array]:
        """Return the variables of a state."""

    def start(self, shape: tuple[int, int]) -> NoiseState:
        """Return the state before the first draw: γ = 1, and equal factors."""

    def marginal(self, state: NoiseState, cells: int) -> Marginal:
        """Return the factor of the density with γ integrated out."""

    def log_prior(self, state: NoiseState) -> float:
        """Return the log prior density of a state, up to a constant."""


@dataclass(frozen=True)
class WithoutNoise:
    """Of a likelihood without noise: γ is 1."""

    is_shared = True
    is_learned = False

    def variables(self, shape: tuple[int, int]) -> tuple[Variable, ...]:
        return ()

    def values(self, state: NoiseState) -> dict[str, Array]:
        return {}

    def start(self, shape: tuple[int, int]) -> NoiseState:
        return NoiseState.shared(1.0)

    def marginal(self, state: NoiseState, cells: int) -> Marginal:
        return Marginal.over(1.0, 0.0)

    def log_prior(self, state: NoiseState) -> float:
        return 0.0


WITHOUT_NOISE = WithoutNoise()


@dataclass(frozen=True)
class WithNoise:
    """y = location(x) + ε, with a prior of γ, or a number if γ is known; shared and normal unless more is given."""

    precision: float | Gamma | ScaledF = PAPER_NOISE
    rows: Spread | None = None
    columns: Spread | None = None
    tails: Tails | None = None

    @property
    def is_shared(self) -> bool:
        return self.rows is None and self.columns is None and self.tails is None

    @property
    def is_learned(self) -> bool:
        return not self.is_shared or isinstance(self.precision, (Gamma, ScaledF))

    def variables(self, shape: tuple[int, int]) -> tuple[Variable, ...]:
        found = [Variable("sigma", (), ())]
        for dimension, size, spread in zip(NOISE_FACTORS, shape, (self.rows, self.columns), strict=True):
            if spread is not None:
                name = NOISE_FACTORS[dimension]
                found += [Variable(name, (dimension,), (size,)), Variable(f"{name}_width", (), ())]
        return (*found, Variable("nu", (), ())) if self.tails is not None else tuple(found)

    def values(self, state: NoiseState) -> dict[str, Array]:
        found = {"sigma": np.asarray(state.precision**-0.5)}
        for dimension, factors, shape in (
            ("row", state.row, state.row_shape),
            ("column", state.column, state.column_shape),
        ):
            if factors.size:
                name = NOISE_FACTORS[dimension]
                found |= {name: factors**-0.5, f"{name}_width": np.asarray(shape**-0.5)}
        return found | ({"nu": np.asarray(state.degrees)} if self.tails is not None else {})

    def start(self, shape: tuple[int, int]) -> NoiseState:
        rate = self.precision.typical_rate() if isinstance(self.precision, ScaledF) else 0.0
        sizes = (
            size if spread is not None else 0 for size, spread in zip(shape, (self.rows, self.columns), strict=True)
        )
        row, column = (np.ones(size) for size in sizes)
        degrees = inf if self.tails is None else SMALLEST_DEGREES + self.tails.shape / self.tails.rate
        return NoiseState(1.0, rate, row, _typical_shape(self.rows), column, _typical_shape(self.columns), degrees)

    def given_rate(self, rate: float) -> float | Gamma:
        """Return the prior of γ given its rate."""
        return self.precision.given_rate(rate) if isinstance(self.precision, ScaledF) else self.precision

    def marginal(self, state: NoiseState, cells: int) -> Marginal:
        return Marginal.over(self.given_rate(state.rate), 0.5 * cells)

    def log_prior(self, state: NoiseState) -> float:
        if isinstance(self.precision, ScaledF):
            total = self.precision.log_density(np.array([state.precision]), state.rate)
        else:
            total = log_prior(self.precision, state.precision)
        for spread, factors, shape in (
            (self.rows, state.row, state.row_shape),
            (self.columns, state.column, state.column_shape),
        ):
            if spread is not None:
                total += spread.log_density(shape) + _log_factors(factors, shape)
        return total if self.tails is None else total + self.tails.log_density(state.degrees)


def _typical_shape(spread: Spread | None) -> float:
    return inf if spread is None else SMALLEST_SHAPE + spread.scale**-2


def _log_factors(factors: Vector, shape: float) -> float:
    """Return the log density of Gamma(shape, shape) at all factors."""
    each = (shape - 1.0) * np.log(factors) - shape * factors
    return float(each.sum() + factors.size * (shape * log(shape) - lgamma(shape)))
