"""The lengths of trajectories after warm-up, learned from the trees of its last window (docs/math.md, §8.6)."""

from typing import NamedTuple

import numpy as np

from manifill.types import Generator, IntVector

__all__ = ["SHORT_STEPS", "Lengths", "Trees"]

# Lengths are drawn between these shares of the trees' mean, lest some oscillation be resonant: a tree turns from one
# end to the other, and a trajectory begins at one of them.
SHORTEST_SHARE, LONGEST_SHARE = 0.4, 1.0

# Short trajectories have so many steps and only their new momentum to give: what one trajectory changes in the log
# density, and in the noise, is limited by the kinetic energy that it starts with, however long it is.
SHORT_STEPS = 2

# One follows each long trajectory, and more where the trees hardly changed the log density from draw to draw: where the
# mean square of the change is below this share of the variance, as for the energy in Betancourt (2017, §6.1).
SMALL_CHANGE, FEW_SHORT, MANY_SHORT = 0.4, 1, 4


class Lengths(NamedTuple):
    """What a draw follows: one long trajectory and some short ones."""

    shortest: int
    longest: int
    short: int  # trajectories of SHORT_STEPS

    def draw(self, rng: Generator) -> IntVector:
        """Return the steps of each."""
        return np.array([rng.integers(self.shortest, self.longest + 1), *[SHORT_STEPS] * self.short])


class Trees(NamedTuple):
    """What is known of the trees of a window."""

    number: int
    time: float  # steps times their size, of all of them
    density: float  # the last log density
    mean: float  # of the log density
    squares: float  # of its deviations from the mean, their sum
    changes: float  # squares of the changes from draw to draw, their sum

    @classmethod
    def none(cls) -> "Trees":
        return cls(0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def plus(self, time: float, density: float) -> "Trees":
        """Return what is known after one more tree, so long in time, that led to a log density."""
        number, deviation = self.number + 1, density - self.mean
        mean = self.mean + deviation / number
        squares = self.squares + deviation * (density - mean)
        change = density - self.density if self.number else 0.0
        return Trees(number, self.time + time, density, mean, squares, self.changes + change**2)

    def lengths(self, step_size: float) -> Lengths | None:
        """Return lengths to go on with, in steps of one size, or nothing if there has been no tree to learn from."""
        if not self.number:
            return None
        steps = self.time / self.number / step_size
        shortest, longest = (max(1, round(share * steps)) for share in (SHORTEST_SHARE, LONGEST_SHARE))
        return Lengths(shortest, longest, MANY_SHORT if self.changes < SMALL_CHANGE * self.squares else FEW_SHORT)
