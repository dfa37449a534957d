"""Slice sampling of densities that are skewed or have two modes, against their exact moments and probabilities.

A density with one mode on a line is drawn correctly with any bracket that contains the slice.  With two modes, the ends
of a bracket around one of them decide whether it reaches the other, so they must be placed at random.  Of the densities
with two modes one has a gap that is wider than the first bracket, of length 1, in most slices and narrower in some, and
one has a gap that no bracket crosses.  On the circle, the slices are the same arcs at every level.

Chains start at exact draws, so that every state has the exact distribution.  They are independent: errors are those of
the means of 40,000 chains of 25 draws.  There are 35 comparisons, one beyond 4.5 with a chance of 0.02 %.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import gammainc, ndtr, polygamma

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.jit import compiled
from manifill.sampling.slice_sampling import draw_on_circle, draw_on_line

CHAINS, DRAWS, BOUND = 40_000, 25, 4.5
OUTSIDE = -50.0  # log density of what has next to no probability
TURN = 2.0 * np.pi


class LogGamma(NamedTuple):
    """The logarithm of a Gamma variable: the left tail is exponential, the right one falls like exp(−eᶻ)."""

    shape: float
    here: Vector  # (1,), where the chain is

    @compiled
    def log_density_at(self, t: float) -> float:
        z = self.here[0] + t
        return float(self.shape * z - np.exp(z))

    def below(self, z: Vector) -> Vector:
        return np.asarray(gammainc(self.shape, np.exp(z)))

    def moments(self) -> tuple[float, float]:
        mean = float(polygamma(0, self.shape))
        return mean, float(polygamma(1, self.shape)) + mean**2

    def draw(self, rng: Generator, number: int) -> Vector:
        """Return exact draws, as log Gamma(shape + 1) + log(uniform)/shape, which does not underflow."""
        return np.log(rng.gamma(self.shape + 1.0, size=number)) + np.log(rng.random(number)) / self.shape


class TwoBells(NamedTuple):
    """A mixture of two normal densities, at 0 and at ``distance``."""

    weight: float  # of the first
    narrow: float  # standard deviations
    wide: float
    distance: float
    here: Vector

    @compiled
    def log_density_at(self, t: float) -> float:
        first, second = (self.here[0] + t) / self.narrow, (self.here[0] + t - self.distance) / self.wide
        density = self.weight / self.narrow * np.exp(-0.5 * first * first)
        return float(np.log(density + (1.0 - self.weight) / self.wide * np.exp(-0.5 * second * second)))

    def below(self, z: Vector) -> Vector:
        second = ndtr((z - self.distance) / self.wide)
        return np.asarray(self.weight * ndtr(z / self.narrow) + (1.0 - self.weight) * second)

    def moments(self) -> tuple[float, float]:
        second = 1.0 - self.weight
        return second * self.distance, self.weight * self.narrow**2 + second * (self.wide**2 + self.distance**2)

    def draw(self, rng: Generator, number: int) -> Vector:
        z = rng.standard_normal(number)
        return np.where(rng.random(number) < self.weight, self.narrow * z, self.distance + self.wide * z)


class Arcs(NamedTuple):
    """Uniform on the parts [0, first] and [second, last] of the circle, in turns."""

    first: float
    second: float
    last: float
    here: Vector

    @compiled
    def log_density_at(self, t: float) -> float:
        turns = (self.here[0] + t) / TURN
        turns -= np.floor(turns)
        return 0.0 if turns < self.first or self.second < turns < self.last else OUTSIDE

    def below(self, z: Vector) -> Vector:
        turns = np.asarray(z) / TURN
        covered = np.minimum(turns, self.first) + np.clip(turns - self.second, 0.0, self.last - self.second)
        return covered / (self.first + self.last - self.second)

    def moments(self) -> tuple[float, float]:
        of_powers = (self.first**k + self.last**k - self.second**k for k in (1, 2, 3))
        length, mean, square = (TURN ** (k - 1) * total / k for k, total in zip((1, 2, 3), of_powers, strict=True))
        return mean / length, square / length

    def draw(self, rng: Generator, number: int) -> Vector:
        along = (self.first + self.last - self.second) * rng.random(number)
        return TURN * np.where(along < self.first, along, along + self.second - self.first)


def nowhere() -> Vector:
    return np.zeros(1)


# A density, and the points below which probabilities are compared.
LINES = {
    "skewed": (LogGamma(0.3, nowhere()), [-12.0, -5.0, -2.0, 0.0, 1.0]),
    "two modes": (TwoBells(0.4, 0.1, 0.5, 1.6, nowhere()), [-0.15, 0.05, 0.5, 1.0, 1.8]),
    "two modes far apart": (TwoBells(0.3, 0.12, 0.7, 3.0, nowhere()), [-0.1, 0.1, 2.0, 3.0, 4.0]),
}
CIRCLES = {
    "two arcs": (Arcs(0.1, 0.3, 0.7, nowhere()), [0.3, 2.1, 2.8, 3.5, 4.1]),
    "most of the circle": (Arcs(0.8, 0.9, 0.9, nowhere()), [0.3, 1.0, 2.5, 4.0, 4.7]),
}


@compiled
def draw_from_whole_circle(rng: Generator, line: Any) -> float:
    return draw_on_circle(rng, line, TURN)


@compiled
def draw_nearby(rng: Generator, line: Any) -> float:
    return draw_on_circle(rng, line, 2.0)


@compiled
def follow(rng: Generator, draw: Callable[..., float], line: Any, starts: Vector, states: Matrix) -> None:
    """Write the states of the chains that begin at ``starts``, (chains, draws)."""
    for k in range(states.shape[0]):
        line.here[0] = starts[k]
        for c in range(states.shape[1]):
            line.here[0] += draw(rng, line)
            states[k, c] = line.here[0]


def z_scores(states: Matrix, density: LogGamma | TwoBells | Arcs, thresholds: list[float]) -> Vector:
    """Return means over the chains against exact ones, in standard errors."""
    found = [states.mean(axis=1), (states**2).mean(axis=1), *((states <= z).mean(axis=1) for z in thresholds)]
    expected = np.array([*density.moments(), *density.below(np.array(thresholds))])
    values = np.stack(found, axis=1)
    return np.asarray((values.mean(axis=0) - expected) / (values.std(axis=0) / np.sqrt(len(values))))


@pytest.mark.parametrize(("density", "thresholds"), LINES.values(), ids=LINES.keys())
def test_on_a_line(density: LogGamma | TwoBells, thresholds: list[float]) -> None:
    rng, states = np.random.default_rng(71), np.empty((CHAINS, DRAWS))
    follow(rng, draw_on_line, density, density.draw(rng, CHAINS), states)
    z = z_scores(states, density, thresholds)
    assert np.abs(z).max() < BOUND, z


@pytest.mark.parametrize(("density", "thresholds"), CIRCLES.values(), ids=CIRCLES.keys())
@pytest.mark.parametrize("draw", [draw_from_whole_circle, draw_nearby])
def test_on_a_circle(density: Arcs, thresholds: list[float], draw: Callable[..., float]) -> None:
    rng, states = np.random.default_rng(72), np.empty((CHAINS, DRAWS))
    follow(rng, draw, density, density.draw(rng, CHAINS), states)
    z = z_scores(np.mod(states, TURN), density, thresholds)
    assert np.abs(z).max() < BOUND, z
