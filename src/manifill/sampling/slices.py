"""Slice sampling along a line or a circle (Neal 2003): one number drawn from any density, without tuning."""

from typing import Protocol

import numpy as np

from manifill.compiled import compiled, compiled_method
from manifill.types import Generator

__all__ = ["Line", "draw_on_circle", "draw_on_line"]

# The first bracket on a line, how often it may grow, and how often a bracket may be cut before it is shorter than
# rounding errors.
WIDTH, MOST_GROWTH, MOST_CUTS = 1.0, 30, 100


class Line(Protocol):
    """A named tuple with one compiled method: the log density along a line on which the present state is at 0."""

    def log_density_at(self, t: float) -> float:
        """Return the log density up to a constant."""


compiled_method("log_density_at")


@compiled
def draw_on_circle(rng: Generator, line: Line) -> float:
    """Return an angle; the first bracket is the whole circle."""
    level = _draw_level(rng, line)
    high = 2.0 * np.pi * rng.random()
    return _cut(rng, line, level, high - 2.0 * np.pi, high)


@compiled
def draw_on_line(rng: Generator, line: Line) -> float:
    """Return a number; the bracket grows until both its ends lie outside of the slice."""
    level = _draw_level(rng, line)
    low = -WIDTH * rng.random()
    high = low + WIDTH
    # The growth is shared between the ends by chance, so that any point of the final bracket could have led to it.
    below = int(MOST_GROWTH * rng.random())
    above = MOST_GROWTH - 1 - below
    while below > 0 and line.log_density_at(low) > level:
        low -= WIDTH
        below -= 1
    while above > 0 and line.log_density_at(high) > level:
        high += WIDTH
        above -= 1
    return _cut(rng, line, level, low, high)


@compiled
def _draw_level(rng: Generator, line: Line) -> float:
    """Return the height of the slice, in logarithms: uniform below the present density."""
    return float(line.log_density_at(0.0) + np.log(rng.random()))


@compiled
def _cut(rng: Generator, line: Line, level: float, low: float, high: float) -> float:
    """Draw from the bracket until a point lies in the slice, and cut the bracket at each that does not."""
    for _ in range(MOST_CUTS):
        t = low + (high - low) * rng.random()
        if line.log_density_at(t) >= level:
            return t
        if t < 0.0:
            low = t
        else:
            high = t
    return 0.0
