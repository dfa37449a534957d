"""Runs chains in parallel, each in a process, and shows their progress.

Chains can be run in several stretches: each begins where the one before ended, in the same processes, so that a stretch
costs little more than its iterations, and the draws do not depend on where stretches end.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import joblib
import numpy as np

from manifill.base import progress
from manifill.base.argument_words import Argument, Wording
from manifill.base.errors import ChainsKilledError
from manifill.base.kernel_cache import cache_note
from manifill.base.progress import Estimate, Row, announce, listener
from manifill.posterior.recorders import ChainRecord
from manifill.sampling.chain import PROCESSOR_TIME, Stretch, found_checkpoint, run_chain, statistic_names
from manifill.sampling.chain_rows import row
from manifill.sampling.checkpoint import Checkpoint
from manifill.sampling.compilation import compile_ahead
from manifill.sampling.plan import Plan
from manifill.sampling.progress_board import Board, Line, Stage
from manifill.sampling.scratch_folder import scratch_folder
from manifill.sampling.shared_value import Shared
from manifill.sampling.time_left import Outlook, TimeLeft
from manifill.sampling.workers import Death, Workers, open_workers

__all__ = [
    "PROCESSOR_TIME",
    "Chains",
    "Outlook",
    "Plan",
    "StoppedInWarmup",
    "found_checkpoint",
    "open_chains",
    "statistic_names",
]

# How often the waiting thread returns to Python code, where signals are handled.
SECONDS_BETWEEN_CHECKS = 0.1

SECONDS_TO_START = 5.0  # a guess of the time until processes have the data


class StoppedInWarmup(KeyboardInterrupt):
    """Ctrl-C was pressed before any chain had made a draw."""


@contextmanager
def open_chains(plan: Plan, seeds: Sequence[np.random.SeedSequence], *, jobs: int | None) -> Iterator["Chains"]:
    """Prepare chains that run ``jobs`` at a time (None: one per processor).

    Each chain has its own seed, so the draws do not depend on ``jobs``.  The first Ctrl-C in the block asks the chains
    to stop after their current iteration, and their draws so far are kept; the second one ends them at once and raises
    KeyboardInterrupt.  SIGTERM asks them to stop in the same way, and takes effect when the block ends.
    """
    note = cache_note()
    if note is not None:
        announce(note)
    jobs = min(joblib.cpu_count() if jobs is None else jobs, plan.chains)
    time_left = TimeLeft(plan.chains, plan.warmup, jobs, plan.products)
    terminated: list[int] = []
    try:
        progress.begin("starting processes", guess=SECONDS_TO_START, then=time_left.guess())
        with open_workers(jobs) as workers, scratch_folder() as folder:
            board = Board(folder / "board", plan.chains, create=True)
            shared = workers.share(plan, folder / "plan")
            with _stopping_on_interrupt(board, terminated):
                yield Chains(plan, shared, seeds, board, workers, time_left)
    finally:
        if terminated:
            signal.raise_signal(signal.SIGTERM)


class Chains:
    """The chains of a fit."""

    def __init__(
        self,
        plan: Plan,
        shared: Shared[Plan],
        seeds: Sequence[np.random.SeedSequence],
        board: Board,
        workers: Workers,
        time_left: TimeLeft,
    ) -> None:
        self._plan, self._shared, self._seeds = plan, shared, seeds
        self._board, self._workers, self._time_left = board, workers, time_left
        self._listener = listener()  # of the caller's thread; the chains run in another
        self._deaths: dict[int, Death] = {}  # of chains that are not started again
        self._ends: dict[int, Checkpoint] = {}  # by chain, if they are in memory
        self._has_drawn = self._is_compiled = False

    @property
    def number(self) -> int:
        """How many chains there are."""
        return self._plan.chains

    @property
    def stopped(self) -> bool:
        """Whether the chains have been asked to stop."""
        return self._board.stopped

    def run(self, draws: int, outlook: Outlook | None = None) -> list[ChainRecord]:
        """Run all chains until each has this many draws in all, and return the records of the new ones.

        ``outlook`` says what else is to come, for the display; by default nothing.  If the process of a chain is
        killed, the chain is started again from where it began; if that is killed too, the other chains end and a
        ChainsKilledError is raised.
        """
        self._time_left.expect(outlook or Outlook(draws, draws))
        for chain in range(self._board.chains):
            self._board.mark(chain, Stage.WAITING)
        work = _Background(lambda: self._stretches(draws))
        while not work.wait(SECONDS_BETWEEN_CHECKS):
            pass
        found = work.result()
        self._check_alive()
        self._ends |= {chain: stretch.end for chain, stretch in found.items() if stretch.end is not None}
        records = [found[chain].record for chain in sorted(found)]
        self._has_drawn |= any(record.draws for record in records)
        if self.stopped and not self._has_drawn:
            raise StoppedInWarmup("stopped before the first draw")
        return records

    def time_left(self) -> Estimate:
        """Return the time that the chains still need."""
        return self._time_left.estimate(self._lines())

    def _stretches(self, draws: int) -> dict[int, Stretch]:
        """Run all chains, and return the stretches of those that were not killed, by chain."""
        if not self._is_compiled:
            guess = self._time_left.guess()
            compile_ahead(self._shared, self._workers, self._listener, lambda: self.stopped, guess)
            self._is_compiled = True
        if self.stopped:  # perhaps while kernels were compiled, whose workers have been killed
            return {}
        self._listener.begin("sampling", None, "", 0.0, 0.0)
        self._listener.watch(self._rows)
        tasks = [
            (self._shared, chain, seed, self._board.path, draws, self._ends.get(chain))
            for chain, seed in enumerate(self._seeds)
        ]
        found: dict[int, Any] = dict(self._workers.results(run_chain, tasks, self._on_death))
        return {chain: stretch for chain, stretch in found.items() if chain not in self._deaths}

    def _on_death(self, chain: int, death: Death, again: bool) -> None:
        """Say that a chain was killed and is started again, or note that it is not."""
        self._board.write(chain, Line(Stage.KILLED))
        if again:
            on_disk = self._plan.path is not None
            begin = "checkpoint" if on_disk else "last block" if chain in self._ends else "seed"
            self._listener.note(f"chain {chain + 1} was {death.cause}; it is started again from its {begin}")
            return
        self._deaths[chain] = death
        if self._plan.path is None:
            self._board.stop()  # the other chains would end up nowhere
        else:
            self._listener.note(f"chain {chain + 1} was {death.cause}, for the second time; the other chains go on")

    def _check_alive(self) -> None:
        """Raise a ChainsKilledError if a chain was killed for good."""
        if not self._deaths:
            return
        numbers = " and ".join(str(chain + 1) for chain in sorted(self._deaths))
        cause = next(iter(self._deaths.values())).cause
        killed = f"chain {numbers} was {cause}" if len(self._deaths) == 1 else f"chains {numbers} were {cause}"
        if self._plan.path is None:
            fewer = Wording("use fewer ", Argument("jobs"), ", or give a ", Argument("path"))
            raise ChainsKilledError(killed, Wording(fewer, ", from which a fit can be resumed"))
        kept = Wording("the other draws are kept, and fit with ", Argument("resume", True), " continues")
        raise ChainsKilledError(killed, kept)

    def _rows(self) -> tuple[list[Row], Estimate]:
        """Return what the display shows of the chains."""
        lines, now = self._lines(), time.monotonic()
        estimate, iterations = self._time_left.estimate(lines, now), self._plan.warmup + self._time_left.outlook.goal
        seconds = self._time_left.stage_seconds(now)
        return [row(chain, line, iterations, seconds[chain]) for chain, line in enumerate(lines)], estimate

    def _lines(self) -> list[Line]:
        return [self._board.read(chain) for chain in range(self._board.chains)]


@contextmanager
def _stopping_on_interrupt(board: Board, terminated: list[int]) -> Iterator[None]:
    """Set the board's stop flag on the first Ctrl-C and on SIGTERM; handle the second Ctrl-C as usual.

    SIGTERM is appended to ``terminated``.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        board.stop()
        signal.signal(number, before[number])
        if number == signal.SIGTERM:
            terminated.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Any] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, stop) or signal.SIG_DFL  # None: not set from Python
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class _Background:
    """Runs a function in a thread, so that the main thread can handle Ctrl-C."""

    def __init__(self, function: Callable[[], dict[int, Stretch]]) -> None:
        self._function = function
        self._result: dict[int, Stretch] = {}
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._result = self._function()
        except BaseException as error:
            self._error = error

    def wait(self, timeout: float) -> bool:
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def result(self) -> dict[int, Stretch]:
        if self._error is not None:
            raise self._error
        return self._result
