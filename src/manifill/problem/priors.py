"""Priors of precisions and rates, all of them Gamma distributions or mixtures of them."""

from typing import NamedTuple

import numpy as np

from manifill.compiled import compiled, compiled_method
from manifill.types import Generator, Vector

__all__ = ["PAPER_NOISE", "Gamma", "Marginal", "ScaledF"]


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


class ScaledF(NamedTuple):
    """A heavy-tailed prior of precisions: γ ~ Gamma(shape, rate), where the rate is itself Gamma(tail, scale).

    For one precision the density is ∝ γ^(shape − 1) (γ + scale)^−(shape + tail) exp(−floor · γ).  But for the last
    factor that is an F distribution about 1/√scale in terms of σ: log σ has a width of about ½ √(1/shape + 1/tail), and
    both tails are powers, so that data which know better are hardly pulled.  ``floor`` keeps σ from falling to zero
    where the data have no noise at all.  Precisions of several columns share the rate, and learn from each other.
    """

    shape: float
    tail: float
    scale: float
    floor: float

    def given_rate(self, rate: float) -> Gamma:
        """Return the prior of γ given its rate."""
        return Gamma(self.shape, rate + self.floor)

    def typical_rate(self) -> float:
        """Return the rate that goes with a σ in the middle of the prior."""
        return self.shape / self.scale

    @compiled
    def sweep(
        self, rng: Generator, shapes: Vector, totals: Vector, precisions: Vector, rate: float, sweeps: int
    ) -> float:
        """Draw precisions given their rate and the rate given them, in turn; write the ones and return the other.

        The likelihood of a precision γ is γ^shape · exp(−total · γ).
        """
        for _ in range(sweeps):
            for k in range(precisions.size):
                precisions[k] = rng.standard_gamma(self.shape + shapes[k]) / (rate + self.floor + totals[k])
            shape = self.tail + self.shape * precisions.size
            rate = rng.standard_gamma(shape) / (self.scale + precisions.sum())
        return rate

    def log_density(self, precisions: Vector, rate: float) -> float:
        """Return the joint log density of precisions and their rate, up to its constant."""
        each = (self.shape - 1.0) * np.log(precisions) - (rate + self.floor) * precisions
        return float(each.sum() + (self.shape * precisions.size + self.tail - 1.0) * np.log(rate) - self.scale * rate)


class Marginal(NamedTuple):
    """A factor v^count · exp(−v · total) of the density with v integrated out under Gamma(shape − count, rate).

    Where v is known, ``known`` is its value, and the factor stays as it is; otherwise ``known`` is 0.
    """

    shape: float  # of the prior, and the count
    rate: float
    known: float

    @classmethod
    def over(cls, prior: "float | Gamma", count: float) -> "Marginal":
        """Return the marginal under a prior, or with a known value."""
        if isinstance(prior, Gamma):
            return cls(prior.shape + count, prior.rate, 0.0)
        return cls(0.0, 0.0, prior)

    @compiled
    def log_marginal(self, total: float) -> tuple[float, float]:
        """Return −shape · log(rate + total), or −known · total, and its derivative in ``total``."""
        if self.known > 0.0:
            return -self.known * total, -self.known
        slope = -self.shape / (self.rate + total)
        return -self.shape * np.log(self.rate + total), slope


compiled_method("log_marginal")
