"""Chains side by side, in processes of their own, through joblib."""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from manifill.compiled import on_compilation
from manifill.files import locked
from manifill.posterior.recording import ChainRecord, MemoryRecorder, Recorder
from manifill.posterior.store import DiskRecorder
from manifill.sampling.board import Board, Line, Stage
from manifill.sampling.checkpoint import Checkpoint, load_checkpoint, restored_generator, save_checkpoint
from manifill.sampling.progress import display
from manifill.sampling.sampler import Sampler
from manifill.sampling.workers import Orphanage, replaced_in_silence

__all__ = ["PROCESSOR_TIME", "Plan", "StoppedInWarmup", "run_chains", "statistic_names"]

SECONDS_BETWEEN_LOOKS = 0.1

# What a chain on disk loses at most when it is killed.
SECONDS_BETWEEN_CHECKPOINTS = 10.0

# The seconds of processor time that an iteration took; PyMC's name.  All else of a run follows from its seed.
PROCESSOR_TIME = "process_time_diff"


class StoppedInWarmup(KeyboardInterrupt):
    """Ctrl-C before any chain had made a draw."""


@dataclass(frozen=True)
class Plan:
    """What every chain does; it travels to the process that runs the chain."""

    build: Callable[[], Sampler[Any, Any, Any]]
    chains: int
    warmup: int
    draws: int
    path: Path | None = None  # of the store that the draws go to, or None to return them
    checkpoints: Path | None = None  # folder for them; a chain that has one there goes on from it

    def checkpoint(self, chain: int) -> Path | None:
        """Return the file of a chain's checkpoint."""
        return None if self.checkpoints is None else self.checkpoints / f"chain-{chain}.npz"


def run_chains(plan: Plan, seed: np.random.SeedSequence, *, jobs: int, visible: bool) -> list[ChainRecord]:
    """Run the chains, ``jobs`` at a time, and return their records.

    Each chain has its own generator, spawned from ``seed``, so the draws do not depend on ``jobs``.  Ctrl-C asks the
    chains to end where they are, and what they have drawn is returned; a second one gives up at once.
    """
    with replaced_in_silence(), tempfile.TemporaryDirectory(prefix="manifill-") as folder:
        board = Board(Path(folder) / "board", plan.chains, create=True)
        work = _Background(lambda: _run_all(plan, seed.spawn(plan.chains), board, jobs))
        shown = display(plan.chains, plan.warmup + plan.draws, visible=visible)
        with _passing_on_interrupts(board), shown as bars:
            while not work.wait(SECONDS_BETWEEN_LOOKS):
                bars.update(board)
            bars.update(board)
        records = work.result()
        if board.stopped and not any(record.draws for record in records):
            raise StoppedInWarmup("stopped during warm-up: nothing has been drawn yet")
        return records


@contextmanager
def _passing_on_interrupts(board: Board) -> Iterator[None]:
    """Turn the first Ctrl-C into the word stop on the board; the second is an ordinary one."""

    def stop(number: int, frame: FrameType | None) -> None:
        board.stop()
        signal.signal(signal.SIGINT, before)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Background:
    """A function running in a thread, so that the main thread is free to draw bars and to take a Ctrl-C."""

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


def _run_all(plan: Plan, seeds: Sequence[np.random.SeedSequence], board: Board, jobs: int) -> list[ChainRecord]:
    # Large arrays reach the other processes as files mapped copy-on-write: shared, yet of the type that kernels know.
    parallel = joblib.Parallel(n_jobs=min(jobs, plan.chains), mmap_mode="c")
    tasks = (joblib.delayed(run_chain)(plan, chain, seed, board.path, os.getpid()) for chain, seed in enumerate(seeds))
    return list(parallel(tasks))


def run_chain(plan: Plan, chain: int, seed: np.random.SeedSequence, board_path: Path, parent: int) -> ChainRecord:
    """Run one chain from its start to its last draw, or to the word stop."""
    _leave_interrupts_to(parent)
    try:
        board = Board(board_path, plan.chains)
    except OSError:  # on another machine: a board of its own that nobody reads
        board = Board(Path(tempfile.mkstemp(prefix="manifill-")[1]), plan.chains, create=True)
    with (
        threadpool_limits(1, "blas"),  # products are tall and skinny: threads would cost more than they bring
        on_compilation(lambda: board.mark(chain, Stage.COMPILING)),
        _alone(plan.checkpoint(chain)),
    ):
        return _run(plan, chain, seed, board, Orphanage(parent))


@contextmanager
def _alone(checkpoint: Path | None) -> Iterator[None]:
    """Wait until no other process writes this chain: one whose parent was killed may still be at its last iteration."""
    if checkpoint is None:
        yield
        return
    with locked(checkpoint.with_suffix(".lock"), wait=True):
        yield


def _run(plan: Plan, chain: int, seed: np.random.SeedSequence, board: Board, orphanage: Orphanage) -> ChainRecord:
    board.mark(chain, Stage.STARTING)
    sampler = plan.build()
    begin = _begin(plan, chain, sampler, seed)
    rng, state, tuning, line = restored_generator(begin.generator), begin.state, begin.tuning, begin.line
    recorder = _recorder(plan, chain, sampler, begin.iteration)
    keeper = _Keeper(plan.checkpoint(chain), recorder)
    board.write(chain, line)
    for iteration in range(begin.iteration, plan.warmup + plan.draws):
        if board.stopped:
            break
        warming = iteration < plan.warmup
        begun = time.thread_time()
        state, info = sampler.step(rng, state, tuning)
        statistics = sampler.statistics(state, tuning, info) | {PROCESSOR_TIME: time.thread_time() - begun}
        orphanage.check()
        if warming:
            recorder.warm(statistics)
            tuning = sampler.adapt(tuning, info)
        else:
            recorder.append(sampler.draw(state), statistics)
        if iteration == plan.warmup - 1:
            tuning = sampler.freeze(tuning)
        line = _next_line(line, statistics, warming=warming)
        board.write(chain, line)
        keeper.look(Checkpoint(iteration + 1, state, tuning, rng.bit_generator.state, line))
    keeper.keep()
    board.mark(chain, Stage.STOPPED if board.stopped else Stage.DONE)
    return recorder.finish()


def _begin(plan: Plan, chain: int, sampler: Sampler[Any, Any, Any], seed: np.random.SeedSequence) -> Checkpoint:
    """Return where a chain begins: at its checkpoint, or at a start of its own."""
    path = plan.checkpoint(chain)
    found = None if path is None else load_checkpoint(path, (*sampler.classes, Line))
    if found is not None:
        return found
    rng = np.random.default_rng(seed)
    state, tuning = sampler.start(rng)
    if not plan.warmup:
        tuning = sampler.freeze(tuning)
    return Checkpoint(0, state, tuning, rng.bit_generator.state, Line())


class _Keeper:
    """Saves a chain's checkpoint now and then, after the draws that lead to it."""

    def __init__(self, path: Path | None, recorder: Recorder) -> None:
        self._path = path
        self._recorder = recorder
        self._latest: Checkpoint | None = None
        self._saved = time.monotonic()

    def look(self, checkpoint: Checkpoint) -> None:
        self._latest = checkpoint
        if self._path is not None and time.monotonic() - self._saved >= SECONDS_BETWEEN_CHECKPOINTS:
            self.keep()

    def keep(self) -> None:
        if self._path is not None and self._latest is not None:
            self._recorder.flush()
            save_checkpoint(self._path, self._latest)
            self._saved = time.monotonic()


def _recorder(plan: Plan, chain: int, sampler: Sampler[Any, Any, Any], done: int) -> Recorder:
    """Return what takes a chain down that has ``done`` iterations behind it."""
    if plan.path is None:
        return MemoryRecorder(sampler.variables, plan.draws)
    warmed, drawn = min(done, plan.warmup), max(done - plan.warmup, 0)
    names = statistic_names(sampler)
    return DiskRecorder(plan.path, chain, sampler.variables, names, plan.warmup, warmed=warmed, drawn=drawn)


def statistic_names(sampler: Sampler[Any, Any, Any]) -> tuple[str, ...]:
    """Return the names of what is recorded of an iteration."""
    return (*sampler.statistic_names, PROCESSOR_TIME)


def _next_line(line: Line, statistics: dict[str, float], *, warming: bool) -> Line:
    step_sizes = [value for name, value in statistics.items() if name.startswith("step_size")]
    return line._replace(
        stage=Stage.WARMUP if warming else Stage.SAMPLING,
        iteration=line.iteration + 1,
        step_size=min(step_sizes, default=float("nan")),
        leapfrog_steps=statistics.get("n_steps", 0.0),
        # Divergences of warm-up belong to step sizes that were being tried out.
        divergences=line.divergences + (0.0 if warming else statistics.get("diverging", 0.0)),
    )


def _leave_interrupts_to(parent: int) -> None:
    """Ignore Ctrl-C, which a terminal sends to all processes, in all but the parent: it will say stop on the board.

    For good, since a worker that waits for its next chain must not die of it either.
    """
    if os.getpid() != parent and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
