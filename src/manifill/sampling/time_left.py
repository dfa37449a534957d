"""The time that chains still need, from how fast they have been."""

import time
from collections import defaultdict, deque
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from manifill.base.durations import still_left
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

ITERATING, ENDED = (Stage.WARMUP, Stage.DRAWING), (Stage.STOPPED, Stage.DONE, Stage.KILLED)


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

    def end(self, now: float, count: float) -> None:
        """Observe a count for the last time before a pause, unless the pause has begun."""
        if self._seen:
            self.observe(now, count)
        self.pause()

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
        if not self._seen:
            return self._before
        (begin, first), (end, last) = self._seen[0], self._seen[-1]
        units = last - first
        measured = (end - begin) / units if units else self._before
        return None if measured is None else max(measured, (now - begin) / (units + 1.0))

    def rest(self, now: float, units: float, guess: float) -> float:
        """Return the seconds that so many more units take, given a guess of one for as long as none is known."""
        since = now - self._seen[-1][0] if self._seen else 0.0
        if units <= 0.0:
            return still_left(0.0, since)
        found = self.seconds(now)
        unit = max(guess, since) if found is None else found
        return still_left(unit, since) + (units - 1.0) * unit


class TimeLeft:
    """Estimates when all chains will be done, given that ``jobs`` of them run at a time."""

    def __init__(self, chains: int, warmup: int, jobs: int, products: float) -> None:
        """``products`` is the number of products of two numbers in a pass over the cells."""
        self._warmup = warmup
        self.outlook = Outlook(0, 0)
        self._jobs = min(jobs, chains)
        self._guess = PASS_SECONDS + PRODUCT_SECONDS * products
        self._iterating = [_Speed() for _ in range(chains)]
        # By chain, and whether it is known how many steps there are: those before are of another kind.
        self._starting: defaultdict[tuple[int, bool], _Speed] = defaultdict(_Speed)
        self._entered: dict[int, tuple[float, float]] = {}  # the stage of each chain, and when it was entered

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
        for chain, line in enumerate(lines):
            self._observe(chain, line, now)
        known = [each for each in (speed.seconds(now) for speed in self._iterating) if each is not None]
        # The steps of the start say little about iterations: on some data, each is many passes.
        iteration = sum(known) / len(known) if known else PASSES_PER_ITERATION * self._guess
        rests = [self._rest(chain, line, now, iteration) for chain, line in enumerate(lines)]
        rests = [rest + pause for rest, pause in zip(rests, self._pauses(lines, now), strict=True)]
        # Either the slowest chain ends last, or all processes are busy until the end.
        seconds = min(max(max(rests), sum(rests) / self._jobs), max(self.outlook.end - now, 0.0))
        return Estimate(seconds, measured=bool(known) or not any(rests), at_most=self.outlook.at_most)

    def stage_seconds(self, now: float) -> list[float]:
        """Return for how long each chain has been in the stage that it was in when an estimate was last made."""
        return [now - self._entered[chain][1] for chain in sorted(self._entered)]

    def _stage(self, line: Line) -> float:
        """Return the stage of a chain; one that has all its draws is done, though it may still save them."""
        has_all = line.stage in ITERATING and line.iteration >= self._warmup + self.outlook.goal
        return Stage.DONE if has_all else line.stage

    def _observe(self, chain: int, line: Line, now: float) -> None:
        stage, iterating, starting = self._stage(line), self._iterating[chain], self._start(chain, line)
        if chain not in self._entered or stage != self._entered[chain][0]:
            self._entered[chain] = stage, now
        if stage in ITERATING:
            iterating.observe(now, line.iteration)
        elif stage == Stage.INITIALISING:
            starting.observe(now, line.initial_steps)
        elif stage == Stage.COMPILING:  # which takes no time of the steps
            starting.pause()
            iterating.pause()
        elif stage == Stage.DONE:
            iterating.end(now, line.iteration)  # while others go on, its speed does not change

    def _pauses(self, lines: Sequence[Line], now: float) -> list[float]:
        """Return the seconds that chains are still likely to wait, though not for each other."""
        stages, since = [self._stage(line) for line in lines], self.stage_seconds(now)
        if all(stage in ENDED for stage in stages):  # what takes the time is not known
            return [still_left(0.0, min(since))] * len(lines)
        idle = [chain for chain, stage in enumerate(stages) if stage == Stage.WAITING]
        at_work = sum(stage not in ENDED for stage in stages) - len(idle)
        starting = idle[: max(self._jobs - at_work, 0)]  # their processes
        return [still_left(0.0, since[chain]) if chain in starting else 0.0 for chain in range(len(lines))]

    def _rest(self, chain: int, line: Line, now: float, iteration: float) -> float:
        """Return the seconds that a chain still needs for itself, given those of an iteration of other chains."""
        stage, iterations = self._stage(line), max(self._iterations - line.iteration, 0.0)
        if stage in (Stage.STOPPED, Stage.KILLED):
            return 0.0
        if stage in ITERATING:
            return self._iterating[chain].rest(now, iterations, iteration)
        rest = iterations * (self._iterating[chain].seconds(now) or iteration)
        if stage == Stage.DONE:
            return rest
        if stage == Stage.COMPILING:
            rest += still_left(COMPILATION_SECONDS, now - self._entered[chain][1])
        steps = 0.0 if line.iteration else max((line.initial_total or PASSES_TO_START) - line.initial_steps, 0.0)
        return rest + self._start(chain, line).rest(now, steps, self._guess)

    def _start(self, chain: int, line: Line) -> _Speed:
        return self._starting[chain, line.initial_total > 0.0]
