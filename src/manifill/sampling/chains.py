"""Runs chains in parallel, each in its own process, through joblib."""

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

from manifill.base.atomic_files import locked
from manifill.base.jit import on_compilation
from manifill.posterior.recorders import ChainRecord, MemoryRecorder, Recorder
from manifill.posterior.zarr_store import DiskRecorder
from manifill.sampling.checkpoint import Checkpoint, load_checkpoint, restored_generator, save_checkpoint
from manifill.sampling.compilation import compile_ahead
from manifill.sampling.loop import iterate
from manifill.sampling.progress_board import Board, Line, Stage
from manifill.sampling.progress_display import display
from manifill.sampling.sampler import Sampler
from manifill.sampling.workers import ParentWatch, quiet_worker_replacement

__all__ = ["PROCESSOR_TIME", "Plan", "StoppedInWarmup", "found_checkpoint", "run_chains", "statistic_names"]

SECONDS_BETWEEN_UPDATES = 0.1

# The most work that a chain on disk loses when it is killed.
SECONDS_BETWEEN_CHECKPOINTS = 10.0

# CPU seconds per iteration, under PyMC's name.  It is the only output of a run that the seed does not determine.
PROCESSOR_TIME = "process_time_diff"


class StoppedInWarmup(KeyboardInterrupt):
    """Ctrl-C was pressed before any chain had made a draw."""


@dataclass(frozen=True)
class Plan:
    """Settings that all chains share; it is pickled and sent to the worker processes."""

    build: Callable[[], Sampler[Any, Any, Any]]
    chains: int
    warmup: int
    draws: int
    path: Path | None = None  # of the store for the draws; None keeps them in memory
    checkpoints: Path | None = None  # their folder; a chain with a checkpoint there is resumed

    def checkpoint(self, chain: int) -> Path | None:
        """Return the path of a chain's checkpoint, or None if chains have none."""
        return None if self.checkpoints is None else self.checkpoints / f"chain-{chain}.npz"


def run_chains(plan: Plan, seeds: Sequence[np.random.SeedSequence], *, jobs: int, visible: bool) -> list[ChainRecord]:
    """Run the chains, ``jobs`` at a time, and return their records.

    Each chain has its own seed, so the draws do not depend on ``jobs``.  The first
    Ctrl-C asks the chains to stop after their current iteration, and their draws so far are returned; the second one
    raises KeyboardInterrupt.
    """
    with quiet_worker_replacement(), tempfile.TemporaryDirectory(prefix="manifill-") as folder:
        board = Board(Path(folder) / "board", plan.chains, create=True)
        work = _Background(lambda: _run_all(plan, seeds, board, jobs))
        shown = display(plan.chains, plan.warmup + plan.draws, visible=visible)
        with _stopping_on_interrupt(board), shown as bars:
            while not work.wait(SECONDS_BETWEEN_UPDATES):
                bars.update(board)
            bars.update(board)
        records = work.result()
        if board.stopped and not any(record.draws for record in records):
            raise StoppedInWarmup("stopped during warm-up: nothing has been drawn yet")
        return records


@contextmanager
def _stopping_on_interrupt(board: Board) -> Iterator[None]:
    """Set the board's stop flag on the first Ctrl-C; handle the second one as usual."""

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
    """Runs a function in a thread, so that the main thread can draw progress bars and handle Ctrl-C."""

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
    compile_ahead(plan.build, jobs, lambda: _mark_all(board, Stage.COMPILING))
    # Workers memory-map large arrays copy-on-write: memory is shared, and kernels still see writable arrays, the type
    # that they are compiled for.
    parallel = joblib.Parallel(n_jobs=min(jobs, plan.chains), mmap_mode="c")
    tasks = (joblib.delayed(run_chain)(plan, chain, seed, board.path, os.getpid()) for chain, seed in enumerate(seeds))
    return list(parallel(tasks))


def _mark_all(board: Board, stage: Stage) -> None:
    for chain in range(board.chains):
        board.mark(chain, stage)


def run_chain(plan: Plan, chain: int, seed: np.random.SeedSequence, board_path: Path, parent: int) -> ChainRecord:
    """Run one chain until its last draw, or until the stop flag is set."""
    _ignore_interrupts_unless(parent)
    try:
        board = Board(board_path, plan.chains)
    except OSError:  # on another machine, which cannot map the file: use a local board that nobody reads
        board = Board(Path(tempfile.mkstemp(prefix="manifill-")[1]), plan.chains, create=True)
    with (
        threadpool_limits(1, "blas"),  # for tall, skinny products threads cost more than they save
        on_compilation(lambda: board.mark(chain, Stage.COMPILING)),
        _exclusive(plan.checkpoint(chain)),
    ):
        return _run(plan, chain, seed, board, ParentWatch(parent))


@contextmanager
def _exclusive(checkpoint: Path | None) -> Iterator[None]:
    """Wait until no other process writes this chain: an orphaned worker may still be running its last iteration."""
    if checkpoint is None:
        yield
        return
    with locked(checkpoint.with_suffix(".lock"), wait=True):
        yield


def _run(plan: Plan, chain: int, seed: np.random.SeedSequence, board: Board, parent: ParentWatch) -> ChainRecord:
    board.mark(chain, Stage.STARTING)
    sampler = plan.build()
    begin = _begin(plan, chain, sampler, seed)
    rng, line = restored_generator(begin.generator), begin.line
    recorder = _recorder(plan, chain, sampler, begin.iteration)
    checkpoints = _CheckpointWriter(plan.checkpoint(chain), recorder)
    board.write(chain, line)
    chain_of = iterate(
        rng, sampler, begin.state, begin.tuning, warmup=plan.warmup, draws=plan.draws, done=begin.iteration
    )
    while not board.stopped:
        done = next(chain_of, None)
        if done is None:
            break
        statistics = done.statistics | {PROCESSOR_TIME: done.seconds}
        parent.check()
        if done.is_warmup:
            recorder.warm(statistics)
        else:
            recorder.append(sampler.draw(done.state), statistics)
        line = _next_line(line, statistics, warming=done.is_warmup)
        board.write(chain, line)
        checkpoints.update(Checkpoint(done.number, done.state, done.tuning, rng.bit_generator.state, line))
    checkpoints.save()
    board.mark(chain, Stage.STOPPED if board.stopped else Stage.DONE)
    return recorder.finish()


def _begin(plan: Plan, chain: int, sampler: Sampler[Any, Any, Any], seed: np.random.SeedSequence) -> Checkpoint:
    """Return where a chain begins: at its checkpoint, or at a new starting point."""
    found = found_checkpoint(plan, chain, sampler)
    if found is not None:
        return found
    rng = np.random.default_rng(seed)
    state, tuning = sampler.start(rng)
    if not plan.warmup:
        tuning = sampler.freeze(tuning)
    return Checkpoint(0, state, tuning, rng.bit_generator.state, Line())


def found_checkpoint(plan: Plan, chain: int, sampler: Sampler[Any, Any, Any]) -> Checkpoint | None:
    """Return the checkpoint of a chain, or None if it has none; an unreadable checkpoint raises a CannotResumeError."""
    path = plan.checkpoint(chain)
    return None if path is None else load_checkpoint(path, (*sampler.classes, Line))


class _CheckpointWriter:
    """Saves a chain's checkpoint periodically, after flushing the draws that precede it."""

    def __init__(self, path: Path | None, recorder: Recorder) -> None:
        self._path = path
        self._recorder = recorder
        self._latest: Checkpoint | None = None
        self._saved = time.monotonic()

    def update(self, checkpoint: Checkpoint) -> None:
        self._latest = checkpoint
        if self._path is not None and time.monotonic() - self._saved >= SECONDS_BETWEEN_CHECKPOINTS:
            self.save()

    def save(self) -> None:
        if self._path is not None and self._latest is not None:
            self._recorder.flush()
            save_checkpoint(self._path, self._latest)
            self._saved = time.monotonic()


def _recorder(plan: Plan, chain: int, sampler: Sampler[Any, Any, Any], done: int) -> Recorder:
    """Return the recorder of a chain of which ``done`` iterations are already recorded."""
    if plan.path is None:
        return MemoryRecorder(sampler.variables, plan.draws)
    warmed, drawn = min(done, plan.warmup), max(done - plan.warmup, 0)
    names = statistic_names(sampler)
    return DiskRecorder(plan.path, chain, sampler.variables, names, plan.warmup, warmed=warmed, drawn=drawn)


def statistic_names(sampler: Sampler[Any, Any, Any]) -> tuple[str, ...]:
    """Return the names of the statistics recorded per iteration."""
    return (*sampler.statistic_names, PROCESSOR_TIME)


def _next_line(line: Line, statistics: dict[str, float], *, warming: bool) -> Line:
    step_sizes = [value for name, value in statistics.items() if name.startswith("step_size")]
    return line._replace(
        stage=Stage.WARMUP if warming else Stage.SAMPLING,
        iteration=line.iteration + 1,
        step_size=min(step_sizes, default=float("nan")),
        leapfrog_steps=statistics.get("n_steps", 0.0),
        # Divergences during warm-up are not counted: they come from step sizes that are still being adapted.
        divergences=line.divergences + (0.0 if warming else statistics.get("diverging", 0.0)),
    )


def _ignore_interrupts_unless(parent: int) -> None:
    """Ignore Ctrl-C in this process unless it is the parent, which sets the stop flag for all.

    A terminal sends the signal to all processes.  It stays ignored after the chain, since a worker that waits for its
    next chain must survive it too.
    """
    if os.getpid() != parent and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
