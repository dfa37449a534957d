"""(y − offset) / step ~ Binomial(trials, sigmoid(x)), for counts and ratings: the paper's B-SVD model."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Array, Generator, Vector
from manifill.likelihoods.likelihood import Chunk, Evaluation, Likelihood, Parameters
from manifill.likelihoods.logistic import sigmoid, sigmoid_and_softplus

__all__ = ["Binomial"]

# How far a value may be from a whole number of steps, in steps: single precision is as good as exact.
LARGEST_ROUNDING = 1e-4


@dataclass(frozen=True)
class Binomial(Likelihood):
    """(y − offset) / step ~ Binomial(trials, sigmoid(x)).

    ``step`` is the distance between neighbouring values and ``offset`` the smallest possible one: stars from 1 to 5
    have 4 trials and the offset 1, half stars from 0.5 to 5 have 9 trials, the step 0.5 and the offset 0.5.
    """

    trials: int
    step: float = 1.0
    offset: float = 0.0

    name = "binomial"
    description = "counts or ratings (Binomial)"

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> "Binomial":
        if arguments.get("trials") is None:
            raise ValueError(
                Wording(
                    Argument("likelihood", "binomial"),
                    " needs ",
                    Argument("trials"),
                    ", the number of steps of size ",
                    Argument("step"),
                    " from the smallest possible value to the largest.",
                )
            )
        given = {name: value for name, value in arguments.items() if value is not None}
        likelihood = cls(**given)
        likelihood._check_constants()
        return likelihood

    @staticmethod
    def evaluate_cells(chunk: Chunk, out: Evaluation) -> None:
        y, x, trials = chunk.y, chunk.x, chunk.constants[0]
        for k in range(x.size):
            share, level = sigmoid_and_softplus(x[k])
            out.log_density[k] = y[k] * x[k] - trials * level
            out.slopes[k] = y[k] - trials * share

    @property
    def constants(self) -> Vector:
        return np.array([float(self.trials)])

    def encode(self, values: Vector) -> Vector:
        self._check_constants()
        counts = (values - self.offset) / self.step
        whole = np.rint(counts)
        broken = np.flatnonzero((np.abs(counts - whole) > LARGEST_ROUNDING) | (whole < 0) | (whole > self.trials))
        if broken.size:
            smallest, largest = self.offset, self.offset + self.trials * self.step
            raise ValueError(
                Wording(
                    f"the data hold {values[broken[0]]:g}, which a Binomial likelihood cannot produce: with ",
                    Argument("trials", self.trials),
                    ", ",
                    Argument("step", self.step),
                    " and ",
                    Argument("offset", self.offset),
                    f" values are {smallest:g}, {smallest + self.step:g}, …, {largest:g}; change one of the three, or ",
                    "choose another ",
                    Argument("likelihood"),
                    ".",
                )
            )
        return whole

    def _check_constants(self) -> None:
        if isinstance(self.trials, bool) or not (isinstance(self.trials, (int, np.integer)) and self.trials >= 1):
            raise ValueError(
                Wording(Argument("trials"), f" must be a whole number of at least 1, not {self.trials!r}.")
            )
        if not (isinstance(self.step, Real) and np.isfinite(self.step) and self.step > 0):
            raise ValueError(
                Wording(
                    Argument("step"),
                    f" must be a positive number, the distance between neighbouring values, not {self.step!r}.",
                )
            )
        if not (isinstance(self.offset, Real) and np.isfinite(self.offset)):
            raise ValueError(Wording(Argument("offset"), f" must be a finite number, not {self.offset!r}."))

    def decode(self, encoded: Vector) -> Vector:
        return np.asarray(self.offset + self.step * encoded)

    def normalizer(self, encoded: Vector) -> Vector:
        log_factorial = np.array([math.lgamma(count + 1.0) for count in range(self.trials + 1)])
        log_choices = log_factorial[-1] - log_factorial - log_factorial[::-1]  # of y successes among all trials
        return np.asarray(log_choices[encoded.astype(np.int64)])

    def starting_point(self, encoded: Vector) -> Vector:
        share = (encoded + 0.5) / (self.trials + 1.0)
        return np.asarray(np.log(share) - np.log1p(-share))

    def mean(self, x: Array) -> Array:
        return np.asarray(self.offset + self.step * self.trials * sigmoid(x))

    def variance(self, x: Array, parameters: Parameters) -> Array:
        share = sigmoid(x)
        return np.asarray(self.step**2 * self.trials * share * (1.0 - share))

    def sample(self, rng: Generator, x: Array, parameters: Parameters) -> Array:
        return np.asarray(self.offset + self.step * rng.binomial(self.trials, sigmoid(x)))
