"""How many draws fit into the time that a fit may take."""

import time
from collections.abc import Callable
from math import inf

__all__ = ["TimeBudget"]

# Draws per chain that the first measurement of the speed takes; fewer at the end are not worth another stretch.
PROBE = 10

# A stretch is planned to take this share of the time left, since speeds vary.
USED = 0.95


class TimeBudget:
    """Cuts a block of draws into stretches that end in time.

    All chains get the same number of draws, however few of them run at a time, so a stretch that has begun is not
    stopped.  Warm-up and the first few draws are always made.
    """

    def __init__(self, minutes: float | None, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self.end = inf if minutes is None else now() + 60.0 * minutes
        self._seconds: float | None = None  # per draw of all chains

    @property
    def is_spent(self) -> bool:
        """Whether the time is over."""
        return self._now() >= self.end

    def run(self, run_to: Callable[[int], bool], drawn: int, goal: int) -> int:
        """Run chains that have ``drawn`` draws each to a goal, or as far as time allows; return how far.

        ``run_to`` runs them to a number of draws, and returns whether it was reached.
        """
        if self.end == inf:
            run_to(goal)
            return goal
        if self._seconds is None:  # warm-up first, whose iterations take another time
            if not run_to(drawn):
                return drawn
            drawn = self._timed(run_to, drawn, min(drawn + PROBE, goal))
        while drawn < goal:
            fitting = drawn + int(USED * max(self.end - self._now(), 0.0) / max(self._seconds or 0.0, 1e-9))
            if fitting < min(drawn + PROBE, goal):
                break
            before, drawn = drawn, self._timed(run_to, drawn, min(fitting, goal))
            if drawn == before:
                break
        return drawn

    def _timed(self, run_to: Callable[[int], bool], drawn: int, goal: int) -> int:
        begun = self._now()
        if not run_to(goal):
            return drawn
        self._seconds = (self._now() - begun) / max(goal - drawn, 1)
        return goal
