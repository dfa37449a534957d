"""Slice sampling along a line or a circle (Neal 2003): draws a number from any density, without tuning."""

from typing import Protocol

import numpy as np

from manifill.base.arrays import Generator
from manifill.base.jit import compiled, compiled_internal, compiled_method

__all__ = ["Line", "draw_on_circle", "draw_on_line"]

# The width of the first bracket on a line, how often it may grow, and how often a bracket is shrunk at most: it is then
# shorter than rounding errors.
WIDTH, MOST_GROWTH, MOST_CUTS = 1.0, 30, 100


class Line(Protocol):
    """A named tuple with one compiled method: the log density along a line, with the current state at 0."""

    def log_density_at(self, t: float) -> float:
        """Return the log density up to a constant."""


compiled_method("log_density_at")


@compiled
def draw_on_circle(rng: Generator, line: Line, width: float) -> float:
    """Return an angle; the first bracket has this width, the whole circle at most, and is placed at random.

    The width must not depend on where on the circle the current state is.
    """
    level = _draw_level(rng, line)
    width = min(width, 2.0 * np.pi)
    high = width * rng.random()
    return _cut(rng, line, level, high - width, high)


@compiled
def draw_on_line(rng: Generator, line: Line) -> float:
    """Return a number; the bracket is stepped out until both its ends lie outside the slice."""
    level = _draw_level(rng, line)
    low = -WIDTH * rng.random()
    high = low + WIDTH
    # The number of steps is split at random between the ends, so that the procedure is reversible for any point in the
    # final bracket.
    below = int(MOST_GROWTH * rng.random())
    above = MOST_GROWTH - 1 - below
    while below > 0 and line.log_density_at(low) > level:
        low -= WIDTH
        below -= 1
    while above > 0 and line.log_density_at(high) > level:
        high += WIDTH
        above -= 1
    return _cut(rng, line, level, low, high)


@compiled_internal
def _draw_level(rng: Generator, line: Line) -> float:
    """Return the log height of the slice: uniform below the current density."""
    return float(line.log_density_at(0.0) + np.log(rng.random()))


@compiled_internal
def _cut(rng: Generator, line: Line, level: float, low: float, high: float) -> float:
    """Draw from the bracket until a point lies in the slice; each point outside shrinks the bracket."""
    for _ in range(MOST_CUTS):
        t = low + (high - low) * rng.random()
        if line.log_density_at(t) >= level:
            return t
        if t < 0.0:
            low = t
        else:
            high = t
    return 0.0
