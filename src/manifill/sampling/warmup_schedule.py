"""What happens when in the warm-up of the joint sampler, as fractions of it.

Masses are learned in windows, from trees.  Trees after the last of these windows show how long trajectories should be.
From then on trajectories are those of the draws to come, and the step size is adapted to their acceptance: the mean
acceptance over a tree, to which it was adapted before, is another one than that at the end of a trajectory.
"""

from typing import NamedTuple

__all__ = ["Schedule"]

# Ends of the windows after which masses are re-estimated.  Early windows are short, since a chain may not have
# converged yet.  A window of fewer iterations than FEWEST is skipped.
WINDOW_ENDS, FEWEST = (0.06, 0.15, 0.3, 0.5), 5

# Long trajectories are wasted while step size and masses are rough guesses: early trees are shallow.
EARLY_END = 0.1

# Trees end, and trajectories of learned lengths begin.
TREES_END = 0.7


class Schedule(NamedTuple):
    """Numbers of iterations after which something changes."""

    early: int  # trees may become deep
    windows: frozenset[int]  # masses change
    trees: int  # trajectories of learned lengths follow

    @classmethod
    def of(cls, warmup: int) -> "Schedule":
        """Return the schedule of a warm-up of so many iterations."""
        ends = (round(share * warmup) for share in WINDOW_ENDS)
        windows = frozenset(end for end in ends if end >= FEWEST)
        return cls(round(EARLY_END * warmup), windows, round(TREES_END * warmup))
