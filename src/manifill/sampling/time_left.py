"""The time that chains still need, from how fast they have been."""

import time
from collections import deque
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from manifill.base.progress import Estimate
from manifill.sampling.progress_board import Line, Stage

__all__ = ["Outlook", "TimeLeft"]

# The speed of a chain is that of its last iterations, at least so many, and at least so many seconds.
LEAST_ITERATIONS, LEAST_SECONDS = 5, 20.0

# First guesses, before there is anything to measure: the seconds of a pass over the cells are these, plus these per
# product of two numbers; and the passes that the start of a chain and an iteration take.
PASS_SECONDS, PRODUCT_SECONDS = 1e-5, 1.5e-9
PASSES_TO_START, PASSES_PER_ITERATION = 300, 100
COMPILATION_SECONDS = 60.0  # of kernels that are compiled by a chain


class Outlook(NamedTuple):
    """What is to come in a fit, in draws per chain; a display shows the goal and the time that the total takes."""

    goal: int  # of the present block
    total: int  # that the fit is expected to make, or at most
    at_most: bool = False  # whether it may well make fewer
    end: float = inf  # the time, by time.monotonic, when it ends at the latest


class _Speed:
    """The seconds per unit of a count that is observed again and again."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()
        self._before: float | None = None  # the speed before a pause

    def pause(self) -> None:
        """Forget when counts were observed, since nothing was done for a while, but not the speed."""
        if self._seen:
            self._before = self.seconds(self._seen[-1][0])
        self._seen.clear()

    def observe(self, now: float, count: float) -> None:
        if self._seen and count < self._seen[-1][1]:  # started again
            self._seen.clear()
        if not self._seen or count != self._seen[-1][1]:
            self._seen.append((now, count))
        while len(self._seen) > 2 and self._is_enough(*self._seen[1]):
            self._seen.popleft()

    def _is_enough(self, begin: float, count: float) -> bool:
        last, most = self._seen[-1]
        return last - begin >= LEAST_SECONDS and most - count >= LEAST_ITERATIONS

    def seconds(self, now: float) -> float | None:
        """Return the seconds per unit up to now, so that a unit that takes long counts before it is done."""
        if len(self._seen) < 2:
            return self._before
        (begin, first), (_, last) = self._seen[0], self._seen[-1]
        return (now - begin) / (last - first)


class TimeLeft:
    """Estimates when all chains will be done, given that ``jobs`` of them run at a time."""

    def __init__(self, chains: int, warmup: int, jobs: int, products: float) -> None:
        """``products`` is the number of products of two numbers in a pass over the cells."""
        self._warmup = warmup
        self.outlook = Outlook(0, 0)
        self._jobs = min(jobs, chains)
        self._guess = PASS_SECONDS + PRODUCT_SECONDS * products
        self._iterating = [_Speed() for _ in range(chains)]
        self._starting = [_Speed() for _ in range(chains)]
        self._compiled_since: dict[int, float] = {}  # by chain

    def expect(self, outlook: Outlook) -> None:
        """Note what is to come when chains are run, for the first time or after a pause."""
        self.outlook = outlook
        for speed in self._iterating:
            speed.pause()

    @property
    def _iterations(self) -> int:
        return self._warmup + self.outlook.total

    def guess(self) -> float:
        """Return a first guess of the seconds that all chains take."""
        passes = PASSES_TO_START + PASSES_PER_ITERATION * self._iterations
        return self._guess * passes * len(self._iterating) / self._jobs

    def estimate(self, lines: Sequence[Line], now: float | None = None) -> Estimate:
        """Return the estimate, given the present lines of the chains."""
        now = time.monotonic() if now is None else now
        for k, line in enumerate(lines):
            if line.stage in (Stage.WARMUP, Stage.DRAWING):
                self._iterating[k].observe(now, line.iteration)
            elif line.stage == Stage.INITIALISING:
                self._starting[k].observe(now, line.initial_steps)
            elif line.stage == Stage.COMPILING:
                self._compiled_since.setdefault(k, now)
            elif line.stage == Stage.DONE:
                self._iterating[k].pause()  # while others go on, its speed does not change
        known = [each for each in (speed.seconds(now) for speed in self._iterating) if each is not None]
        rests = [self._rest(k, line, now, known) for k, line in enumerate(lines)]
        # Either the slowest chain ends last, or all processes are busy until the end.
        seconds = min(max(max(rests), sum(rests) / self._jobs), max(self.outlook.end - now, 0.0))
        return Estimate(seconds, measured=bool(known) or not any(rests), at_most=self.outlook.at_most)

    def _rest(self, chain: int, line: Line, now: float, known: Sequence[float]) -> float:
        """Return the seconds that a chain still needs for itself."""
        if line.stage in (Stage.STOPPED, Stage.KILLED):
            return 0.0
        compiles = line.stage == Stage.COMPILING
        step = None if compiles else self._starting[chain].seconds(now)  # the time of steps is not that of compiling
        iteration = self._iterating[chain].seconds(now)
        if iteration is None and known:
            iteration = sum(known) / len(known)
        if iteration is None:  # the steps of the start say little about it: on some data, each is many passes
            iteration = PASSES_PER_ITERATION * self._guess
        start = self._compilation(chain, now) if compiles else 0.0
        if line.stage in (Stage.WAITING, Stage.INITIALISING, Stage.COMPILING) and not line.iteration:
            start += max(PASSES_TO_START - line.initial_steps, 0.0) * (self._guess if step is None else step)
        return start + iteration * max(self._iterations - line.iteration, 0.0)

    def _compilation(self, chain: int, now: float) -> float:
        """Return a guess of the seconds that kernels still take: it falls all the time, but not to zero."""
        since = now - self._compiled_since[chain]
        return COMPILATION_SECONDS * COMPILATION_SECONDS / (COMPILATION_SECONDS + since)
