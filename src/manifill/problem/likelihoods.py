"""How an observation y arises from the low-rank matrix at its cell, x.

A likelihood is a named tuple.  Compiled code asks it for one thing, ``evaluate(y, x)``: the log density of y up to
terms free of x, and its derivative in x.  A likelihood with noise is a location family: there the log density is that
of unit noise, and the sampler multiplies it by the precision γ = 1/σ².  Everything else is plain NumPy.
"""

from typing import NamedTuple, Protocol

import numpy as np

from manifill.compiled import compiled, compiled_method
from manifill.problem.elementary import sigmoid_and_softplus
from manifill.types import Array, Generator, Vector

__all__ = ["Binomial", "Gaussian", "Likelihood", "SoftplusGaussian"]


class Likelihood(Protocol):
    """What the samplers and the predictions ask of a likelihood."""

    @property
    def name(self) -> str:
        """The name it is known by."""

    @property
    def has_noise(self) -> bool:
        """Whether it has a noise precision γ to be learned."""

    def evaluate(self, y: float, x: float) -> tuple[float, float]:
        """Return the log density of y up to terms free of x, at unit noise, and its derivative in x (compiled)."""

    def encode(self, values: Vector) -> Vector:
        """Return the values in the units of ``evaluate``, or raise a ValueError for one that cannot occur."""

    def starting_point(self, encoded: Vector) -> Vector:
        """Return a finite x for each encoded value that gives about that value: where a chain may start."""

    def mean(self, x: Array) -> Array:
        """Return E[y | x], in the data's units."""

    def variance(self, x: Array, sigma: Array | float) -> Array:
        """Return Var[y | x], in the data's units squared."""

    def sample(self, rng: Generator, x: Array, sigma: Array | float) -> Array:
        """Draw y given x, in the data's units."""


compiled_method("evaluate")


def _sigmoid(x: Array) -> Array:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def _softplus(x: Array) -> Array:
    return np.asarray(np.logaddexp(0.0, x))


class Gaussian(NamedTuple):
    """y ~ N(x, σ²): the paper's SVD model."""

    has_noise: bool = True

    @property
    def name(self) -> str:
        return "gaussian"

    @compiled
    def evaluate(self, y: float, x: float) -> tuple[float, float]:
        residual = y - x
        return -0.5 * residual * residual, residual

    def encode(self, values: Vector) -> Vector:
        return values

    def starting_point(self, encoded: Vector) -> Vector:
        return encoded

    def mean(self, x: Array) -> Array:
        return x

    def variance(self, x: Array, sigma: Array | float) -> Array:
        return np.full_like(x, sigma**2)

    def sample(self, rng: Generator, x: Array, sigma: Array | float) -> Array:
        return np.asarray(rng.normal(x, sigma))


class SoftplusGaussian(NamedTuple):
    """y ~ N(log(1 + eˣ), σ²), for positive quantities: the paper's S-SVD model."""

    has_noise: bool = True

    @property
    def name(self) -> str:
        return "softplus"

    @compiled
    def evaluate(self, y: float, x: float) -> tuple[float, float]:
        sigmoid, softplus = sigmoid_and_softplus(x)
        residual = y - softplus
        return -0.5 * residual * residual, residual * sigmoid

    def encode(self, values: Vector) -> Vector:
        return values

    def starting_point(self, encoded: Vector) -> Vector:
        # log(eʸ − 1) falls to −∞ at y = 0; noise may take y there or below.
        floor = 1e-2 * max(float(np.std(encoded)), 1e-6)
        positive = np.maximum(encoded, floor)
        return np.asarray(positive + np.log(-np.expm1(-positive)))

    def mean(self, x: Array) -> Array:
        return _softplus(x)

    def variance(self, x: Array, sigma: Array | float) -> Array:
        return np.full_like(x, sigma**2)

    def sample(self, rng: Generator, x: Array, sigma: Array | float) -> Array:
        return np.asarray(rng.normal(_softplus(x), sigma))


# How far a value may be from a whole number of steps, in steps: single precision is as good as exact.
LARGEST_ROUNDING = 1e-4


class Binomial(NamedTuple):
    """y / step ~ Binomial(trials, sigmoid(x)): the paper's B-SVD model.

    ``step`` is the distance between neighbouring values, 0.5 for half stars (and then 5 stars are 10 trials).
    """

    trials: int
    step: float = 1.0

    @property
    def name(self) -> str:
        return "binomial"

    @property
    def has_noise(self) -> bool:
        return False

    @compiled
    def evaluate(self, y: float, x: float) -> tuple[float, float]:
        sigmoid, softplus = sigmoid_and_softplus(x)
        return y * x - self.trials * softplus, y - self.trials * sigmoid

    def encode(self, values: Vector) -> Vector:
        self._check()
        counts = values / self.step
        whole = np.rint(counts)
        broken = np.flatnonzero((np.abs(counts - whole) > LARGEST_ROUNDING) | (whole < 0) | (whole > self.trials))
        if broken.size:
            raise ValueError(
                f"values holds {values[broken[0]]:g}, which a Binomial likelihood cannot produce: with "
                f"trials={self.trials} and step={self.step:g} values are 0, {self.step:g}, …, "
                f"{self.trials * self.step:g}; change trials or step, or choose another likelihood."
            )
        return whole

    def _check(self) -> None:
        if not (isinstance(self.trials, (int, np.integer)) and self.trials >= 1):
            raise ValueError(f"trials must be a whole number of at least 1, not {self.trials!r}.")
        if not (np.isfinite(self.step) and self.step > 0):
            raise ValueError(
                f"step must be a positive number, the distance between neighbouring values, not {self.step!r}."
            )

    def starting_point(self, encoded: Vector) -> Vector:
        share = (encoded + 0.5) / (self.trials + 1.0)
        return np.asarray(np.log(share) - np.log1p(-share))

    def mean(self, x: Array) -> Array:
        return np.asarray(self.step * self.trials * _sigmoid(x))

    def variance(self, x: Array, sigma: Array | float) -> Array:
        share = _sigmoid(x)
        return np.asarray(self.step**2 * self.trials * share * (1.0 - share))

    def sample(self, rng: Generator, x: Array, sigma: Array | float) -> Array:
        return np.asarray(self.step * rng.binomial(self.trials, _sigmoid(x)))
