"""The lengths of trajectories after warm-up, learned from the trees of its last window (docs/math.md, §8.6)."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, IntVector
from manifill.base.moments import add_value

__all__ = ["SHORT_STEPS", "Lengths", "Trees"]

# Lengths are drawn between these fractions of the trees' mean length, which avoids resonance.  The U-turn of a tree is
# between its two ends, and a trajectory begins at one of them.
SHORTEST_SHARE, LONGEST_SHARE = 0.4, 1.0

# Steps of a short trajectory.  Short trajectories serve to refresh the momentum: the change in the log density, and in
# the noise, along one trajectory is limited by its initial kinetic energy, however long it is.
SHORT_STEPS = 2

# One short trajectory follows each long one, and more of them if the trees hardly changed the log density from draw to
# draw: if the mean square change is below this fraction of the variance, as for the energy in Betancourt (2017, §6.1).
SMALL_CHANGE, FEW_SHORT, MANY_SHORT = 0.4, 1, 4


class Lengths(NamedTuple):
    """The trajectories of one draw: a long one and some short ones."""

    shortest: int
    longest: int
    short: int  # number of trajectories of SHORT_STEPS steps

    def draw(self, rng: Generator) -> IntVector:
        """Return the number of steps of each."""
        return np.array([rng.integers(self.shortest, self.longest + 1), *[SHORT_STEPS] * self.short])


class Trees(NamedTuple):
    """Running statistics of the trees of a window."""

    number: int
    time: float  # total length: steps times step size
    density: float  # the last log density
    mean: float  # of the log density
    squares: float  # sum of squared deviations from the mean
    changes: float  # sum of squared changes from draw to draw

    @classmethod
    def none(cls) -> "Trees":
        return cls(0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def update(self, time: float, density: float) -> "Trees":
        """Add a tree of length ``time`` whose draw has log density ``density``."""
        mean, square = add_value(self.number + 1, self.mean, density)
        change = density - self.density if self.number else 0.0
        squares, changes = self.squares + square, self.changes + change**2
        return Trees(self.number + 1, self.time + time, density, mean, squares, changes)

    def final(self, step_size: float, most_steps: int) -> Lengths | None:
        """Return lengths for use after warm-up, in steps of ``step_size``, or None if there were no trees.

        They have at most ``most_steps`` steps: if warm-up ended with divergences, its last step size may be so small
        that the lengths of its trees are out of reach.
        """
        if not self.number:
            return None
        steps = min(self.time / self.number / step_size, most_steps)
        shortest, longest = (max(1, round(share * steps)) for share in (SHORTEST_SHARE, LONGEST_SHARE))
        return Lengths(shortest, longest, MANY_SHORT if self.changes < SMALL_CHANGE * self.squares else FEW_SHORT)
