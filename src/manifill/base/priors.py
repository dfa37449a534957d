"""Priors of precisions and rates: Gamma distributions and mixtures of them, with conjugate updates."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import compiled, compiled_method

__all__ = ["PAPER_NOISE", "ComponentGamma", "Gamma", "Marginal", "ScaledF", "draw_given", "log_prior"]


class Gamma(NamedTuple):
    """A Gamma prior with density ∝ v^(shape − 1) exp(−rate · v)."""

    shape: float
    rate: float

    def given(self, count: float, total: float) -> "Gamma":
        """Return the posterior of a quantity v whose likelihood is v^count · exp(−total · v)."""
        return Gamma(self.shape + count, self.rate + total)

    def draw(self, rng: Generator) -> float:
        """Return a draw."""
        return float(rng.gamma(self.shape, 1.0 / self.rate))

    def log_density(self, value: float) -> float:
        """Return the log density up to its constant."""
        return float((self.shape - 1.0) * np.log(value) - self.rate * value)


PAPER_NOISE = Gamma(1e-4, 1e-4)


class ComponentGamma(NamedTuple):
    """Independent Gamma priors of the precisions of each component of each factor of A Bᵀ.

    A component that the data do not support gets large precisions, so its rank is learned (automatic relevance
    determination).
    """

    shape: float
    rate: float

    @property
    def each(self) -> Gamma:
        """The prior of one precision."""
        return Gamma(self.shape, self.rate)


class ScaledF(NamedTuple):
    """A heavy-tailed prior of precisions: γ ~ Gamma(shape, rate), where the rate is itself Gamma(tail, scale).

    For one precision the density is ∝ γ^(shape − 1) (γ + scale)^−(shape + tail) exp(−floor · γ).  Without the last
    factor this is a scaled F distribution.  σ is centred on 1/√scale, log σ has a standard deviation of about ½
    √(1/shape + 1/tail), and both tails are power laws, so that informative data are hardly shrunk.  ``floor`` keeps σ
    from collapsing to zero if the data have no noise.  Precisions of several columns share the rate, so they are
    pooled.
    """

    shape: float
    tail: float
    scale: float
    floor: float

    def given_rate(self, rate: float) -> Gamma:
        """Return the prior of γ given its rate."""
        return Gamma(self.shape, rate + self.floor)

    def typical_rate(self) -> float:
        """Return the rate for a σ at the centre of the prior."""
        return self.shape / self.scale

    @compiled
    def sweep(
        self, rng: Generator, shapes: Vector, totals: Vector, precisions: Vector, rate: float, sweeps: int
    ) -> float:
        """Draw precisions given their rate and the rate given them, in turn; write the precisions and return the rate.

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

    If v is known, ``known`` is its value and nothing is integrated out; otherwise ``known`` is 0.
    """

    shape: float  # shape of the prior plus count
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


def draw_given(rng: Generator, prior: float | Gamma, count: float, total: float) -> float:
    """Draw v given a likelihood v^count · exp(−total · v); a number in place of a prior is the value itself."""
    return prior.given(count, total).draw(rng) if isinstance(prior, Gamma) else prior


def log_prior(prior: float | Gamma, value: float) -> float:
    """Return the log density of a value under its prior, up to a constant; 0 if the value is known."""
    return prior.log_density(value) if isinstance(prior, Gamma) else 0.0
