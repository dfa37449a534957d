"""Runs chains in parallel, each in a process, and shows their progress."""

import signal
import threading
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
from manifill.base.progress import Estimate, Listener, Row, announce, listener
from manifill.posterior.recorders import ChainRecord
from manifill.sampling.chain import PROCESSOR_TIME, found_checkpoint, run_chain, statistic_names
from manifill.sampling.compilation import compile_ahead
from manifill.sampling.plan import Plan
from manifill.sampling.progress_board import Board, Line, Stage
from manifill.sampling.scratch_folder import scratch_folder
from manifill.sampling.shared_value import Shared
from manifill.sampling.time_left import TimeLeft
from manifill.sampling.workers import Death, Workers, open_workers

__all__ = ["PROCESSOR_TIME", "Plan", "StoppedInWarmup", "found_checkpoint", "run_chains", "statistic_names"]

# How often the waiting thread returns to Python code, where signals are handled.
SECONDS_BETWEEN_CHECKS = 0.1

SECONDS_TO_START = 5.0  # a guess of the time until processes have the data

WORDS = {
    Stage.WAITING: "waiting",
    Stage.INITIALISING: "initialising",
    Stage.COMPILING: "compiling",
    Stage.WARMUP: "warm-up",
    Stage.DRAWING: "drawing",
    Stage.STOPPED: "stopped",
    Stage.DONE: "done",
    Stage.KILLED: "killed",
}


class StoppedInWarmup(KeyboardInterrupt):
    """Ctrl-C was pressed before any chain had made a draw."""


def run_chains(plan: Plan, seeds: Sequence[np.random.SeedSequence], *, jobs: int | None) -> list[ChainRecord]:
    """Run the chains, ``jobs`` at a time (None: one per processor), and return their records.

    Each chain has its own seed, so the draws do not depend on ``jobs``.  The first Ctrl-C asks the chains to stop after
    their current iteration, and their draws so far are returned; the second one ends them at once and raises
    KeyboardInterrupt.  SIGTERM asks them to stop in the same way, and takes effect when they have.  If the process of a
    chain is killed, the chain is started again, from its checkpoint if it has one; if that is killed too, the other
    chains end and a ChainsKilledError is raised.
    """
    note = cache_note()
    if note is not None:
        announce(note)
    jobs = min(joblib.cpu_count() if jobs is None else jobs, plan.chains)
    time_left = TimeLeft(plan.chains, plan.iterations, jobs, plan.products)
    progress.begin("starting processes", guess=SECONDS_TO_START, then=time_left.guess())
    with open_workers(jobs) as workers, scratch_folder() as folder:
        board = Board(folder / "board", plan.chains, create=True)
        shared = workers.share(plan, folder / "plan")
        run = _Run(plan, shared, seeds, board, workers, time_left)
        with _stopping_on_interrupt(board) as terminated:
            work = _Background(run.all_records)
            while not work.wait(SECONDS_BETWEEN_CHECKS):
                pass
        records = work.result()
    if terminated:
        signal.raise_signal(signal.SIGTERM)
    run.check_alive()
    if board.stopped and not any(record.draws for record in records):
        raise StoppedInWarmup("stopped before the first draw")
    return records


class _Run:
    """The chains of one call of ``run_chains``."""

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
        self._listener: Listener = listener()  # of the caller's thread; the chains run in another
        self._deaths: dict[int, Death] = {}  # of chains that are not started again

    def all_records(self) -> list[ChainRecord]:
        """Run all chains, and return the records of those that were not killed."""
        guess = self._time_left.guess()
        compile_ahead(self._shared, self._workers, self._listener, lambda: self._board.stopped, guess)
        if self._board.stopped:  # while kernels were compiled, whose workers have been killed
            return []
        self._listener.begin("sampling", None, "", 0.0, 0.0)
        self._listener.watch(self._rows)
        tasks = [(self._shared, chain, seed, self._board.path) for chain, seed in enumerate(self._seeds)]
        found: dict[int, Any] = dict(self._workers.results(run_chain, tasks, self._on_death))
        return [found[chain] for chain in sorted(found) if chain not in self._deaths]

    def _on_death(self, chain: int, death: Death, again: bool) -> None:
        """Say that a chain was killed and is started again, or note that it is not."""
        self._board.mark(chain, Stage.KILLED)
        if again:
            begin = "seed" if self._plan.path is None else "checkpoint"
            self._listener.note(f"chain {chain + 1} was {death.cause}; it is started again from its {begin}")
            return
        self._deaths[chain] = death
        if self._plan.path is None:
            self._board.stop()  # the other chains would end up nowhere
        else:
            self._listener.note(f"chain {chain + 1} was {death.cause}, for the second time; the other chains go on")

    def check_alive(self) -> None:
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
        lines = [self._board.read(chain) for chain in range(self._board.chains)]
        rows = [_row(chain, line, self._plan.iterations) for chain, line in enumerate(lines)]
        return rows, self._time_left.estimate(lines)


def _row(chain: int, line: Line, iterations: int) -> Row:
    name, stage = f"chain {chain + 1}", Stage(int(line.stage))
    if stage == Stage.INITIALISING and line.initial_steps:
        return Row(name, f"initialising, step {line.initial_steps:.0f}", 0.0, None)
    if stage in (Stage.WAITING, Stage.INITIALISING, Stage.COMPILING, Stage.KILLED):
        return Row(name, WORDS[stage], 0.0, None)
    details = (
        f"step {line.step_size:.2g}" if line.step_size == line.step_size else "",
        f"{line.leapfrog_steps:.0f} leapfrogs" if line.leapfrog_steps else "",
        f"{line.divergences:.0f} divergent" if line.divergences else "",
    )
    return Row(name, WORDS[stage], line.iteration, iterations, ", ".join(part for part in details if part))


@contextmanager
def _stopping_on_interrupt(board: Board) -> Iterator[list[int]]:
    """Set the board's stop flag on the first Ctrl-C and on SIGTERM; handle the second Ctrl-C as usual.

    The yielded list is not empty once SIGTERM has come.
    """
    terminated: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        board.stop()
        signal.signal(number, before[number])
        if number == signal.SIGTERM:
            terminated.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield terminated
        return
    before: dict[int, Any] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, stop) or signal.SIG_DFL  # None: not set from Python
    try:
        yield terminated
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class _Background:
    """Runs a function in a thread, so that the main thread can handle Ctrl-C."""

    def __init__(self, function: Callable[[], list[ChainRecord]]) -> None:
        self._function = function
        self._result: list[ChainRecord] = []
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

    def result(self) -> list[ChainRecord]:
        if self._error is not None:
            raise self._error
        return self._result
