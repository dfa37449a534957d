"""Slice samplers of the noise: widths of row and column factors, degrees of freedom, and levels."""

from math import lgamma
from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import compiled
from manifill.base.priors import Gamma
from manifill.likelihoods.noise import SMALLEST_DEGREES, SMALLEST_SHAPE, Spread, Tails
from manifill.sampling.sampler import Kernel
from manifill.sampling.slice_sampling import draw_on_line

__all__ = ["draw_degrees", "draw_level", "draw_shape", "slice_kernels"]

# Beyond these the distributions cannot be told from a constant or from a normal one.
LARGEST_SHAPE, LARGEST_DEGREES = 1e6, 1e4


def draw_shape(rng: Generator, spread: Spread, counts: Vector, sums: Vector, shape: float) -> float:
    """Draw a given likelihoods α^(count/2) exp(−sum · α) of factors α ~ Gamma(a, a), which are integrated out."""
    return float(shape * np.exp(draw_on_line(rng, _LogShape(spread.scale, counts, sums, shape))))


def draw_degrees(rng: Generator, tails: Tails, squares: Vector, degrees: float) -> float:
    """Draw ν given the squares of residuals in units of σ, (cells,)."""
    return float(degrees * np.exp(draw_on_line(rng, _LogDegrees(tails.shape, tails.rate, squares, degrees))))


def draw_level(rng: Generator, prior: Gamma, precision: float, shapes: float, rates: float) -> float:
    """Draw c for γ → cγ, α → α/c; ``shapes`` and ``rates`` are m a and a Σ α for m factors of shape a."""
    return float(np.exp(draw_on_line(rng, _LogLevel(prior.shape, prior.rate * precision, shapes, rates))))


def slice_kernels(rng: Generator) -> tuple[Kernel, ...]:
    """Return what is compiled for these draws."""
    v = np.empty(0)
    lines = _LogShape(1.0, v, v, 1.0), _LogDegrees(1.0, 1.0, v, 1.0), _LogLevel(1.0, 1.0, 1.0, 1.0)
    return tuple(Kernel(draw_on_line, (rng, line)) for line in lines)


class _LogShape(NamedTuple):
    """The log density of log a, moved by t from its current value."""

    scale: float
    counts: Vector
    sums: Vector
    shape: float

    @compiled
    def log_density_at(self, t: float) -> float:
        a = self.shape * np.exp(t)
        if not SMALLEST_SHAPE < a < LARGEST_SHAPE:
            return -np.inf
        total = self.counts.size * (a * np.log(a) - lgamma(a))
        for k in range(self.counts.size):
            count = a + 0.5 * self.counts[k]
            total += lgamma(count) - count * np.log(a + self.sums[k])
        return float(total - 0.5 * np.log(a) - np.log(1.0 + 1.0 / (a * self.scale * self.scale)))


class _LogDegrees(NamedTuple):
    """The log density of log ν, moved by t from its current value."""

    prior_shape: float
    prior_rate: float
    squares: Vector
    degrees: float

    @compiled
    def log_density_at(self, t: float) -> float:
        nu = self.degrees * np.exp(t)
        if not SMALLEST_DEGREES < nu < LARGEST_DEGREES:
            return -np.inf
        constant = lgamma(0.5 * (nu + 1.0)) - lgamma(0.5 * nu) - 0.5 * np.log(nu)
        total = 0.0
        for k in range(self.squares.size):
            total += np.log1p(self.squares[k] / nu)
        likelihood = self.squares.size * constant - 0.5 * (nu + 1.0) * total
        above = nu - SMALLEST_DEGREES
        return float(likelihood + (self.prior_shape - 1.0) * np.log(above) - self.prior_rate * above + np.log(nu))


class _LogLevel(NamedTuple):
    """The log density of log c; the Jacobian of the move is part of the exponents (Liu and Sabatti 2000)."""

    prior_shape: float
    prior_rate: float  # times γ
    shapes: float
    rates: float

    @compiled
    def log_density_at(self, t: float) -> float:
        return float((self.prior_shape - self.shapes) * t - self.prior_rate * np.exp(t) - self.rates * np.exp(-t))
