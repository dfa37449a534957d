"""One stretch of a chain, from its start or a checkpoint to a number of draws."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from manifill.base import progress
from manifill.base.atomic_files import locked
from manifill.base.kernel_cache import on_compilation
from manifill.posterior.disk_recorder import DiskRecorder
from manifill.posterior.recorders import ChainRecord, MemoryRecorder, Recorder
from manifill.sampling.checkpoint import Checkpoint, load_checkpoint, restored_generator, save_checkpoint
from manifill.sampling.loop import iterate
from manifill.sampling.plan import Plan
from manifill.sampling.progress_board import Board, BoardListener, Line, Stage, StopRequested
from manifill.sampling.sampler import Sampler
from manifill.sampling.shared_value import Shared

__all__ = ["PROCESSOR_TIME", "Stretch", "found_checkpoint", "run_chain", "statistic_names"]

# The most work that a chain on disk loses when it is killed.
SECONDS_BETWEEN_CHECKPOINTS = 10.0

# CPU seconds per iteration, under PyMC's name.  It is the only output of a run that the seed does not determine.
PROCESSOR_TIME = "process_time_diff"


class Stretch(NamedTuple):
    """What a chain has recorded in one stretch, and where the next one begins."""

    record: ChainRecord
    end: Checkpoint | None  # None if it is on disk, or if the chain was stopped before it had started


def run_chain(
    shared: Shared[Plan],
    chain: int,
    seed: np.random.SeedSequence,
    board_path: Path,
    draws: int,
    begin: Checkpoint | None = None,
) -> Stretch:
    """Run one chain until it has this many draws, or until the stop flag is set.

    It begins at ``begin``, the end of an earlier stretch in memory, or at its checkpoint on disk, or at its seed.
    """
    plan = shared.read()
    try:
        board = Board(board_path, plan.chains)
    except OSError:  # on another machine, which cannot map the file: use a local board that nobody reads
        board = Board(Path(tempfile.mkstemp(prefix="manifill-")[1]), plan.chains, create=True)
    with (
        threadpool_limits(1, "blas"),  # for tall, skinny products threads cost more than they save
        _exclusive(plan.checkpoint(chain)),
    ):
        board.mark(chain, Stage.INITIALISING)  # building the sampler takes seconds if there are many cells
        sampler = plan.build()
        try:
            found = _begin(plan, chain, sampler, seed, board, begin)
        except StopRequested:
            board.mark(chain, Stage.STOPPED)
            return Stretch(ChainRecord(sampler.variables, 0, {}, {}, {}), begin)
        return _run(plan, chain, sampler, found, board, draws)


@contextmanager
def _exclusive(checkpoint: Path | None) -> Iterator[None]:
    """Wait until no other process writes this chain: an orphaned worker may still be running its last iteration."""
    if checkpoint is None:
        yield
        return
    with locked(checkpoint.with_suffix(".lock"), wait=True):
        yield


def _begin(
    plan: Plan,
    chain: int,
    sampler: Sampler[Any, Any, Any],
    seed: np.random.SeedSequence,
    board: Board,
    begin: Checkpoint | None,
) -> Checkpoint:
    """Return where a chain begins: where it ended before, or at a new starting point."""
    listener = BoardListener(board, chain)
    with progress.listening(listener), on_compilation(listener.compiles):
        progress.begin("initialising")
        found = begin or found_checkpoint(plan, chain, sampler)
        if found is not None:
            return found
        rng = np.random.default_rng(seed)
        state, tuning = sampler.start(rng)
        if not plan.warmup:
            tuning = sampler.freeze(tuning)
        return Checkpoint(0, state, tuning, rng.bit_generator.state, Line())


def _run(
    plan: Plan, chain: int, sampler: Sampler[Any, Any, Any], begin: Checkpoint, board: Board, draws: int
) -> Stretch:
    rng = restored_generator(begin.generator)
    line = begin.line._replace(stage=Stage.WARMUP if begin.iteration < plan.warmup else Stage.DRAWING)
    recorder = _recorder(plan, chain, sampler, begin.iteration, draws)
    checkpoints, latest = _CheckpointWriter(plan.checkpoint(chain), recorder), begin
    if not begin.iteration:  # so that a chain with draws always has a checkpoint
        checkpoints.save_now(begin)
    board.write(chain, line)
    chain_of = iterate(rng, sampler, begin.state, begin.tuning, warmup=plan.warmup, draws=draws, done=begin.iteration)
    while not board.stopped:
        with on_compilation(partial(_mark_compilation, board, chain, line)):  # of the first iterations
            done = next(chain_of, None)
        if done is None:
            break
        statistics = done.statistics | {PROCESSOR_TIME: done.seconds}
        if done.is_warmup:
            recorder.warm(statistics)
        else:
            recorder.append(sampler.draw(done.state), statistics)
        line = _next_line(line, statistics, warming=done.is_warmup)
        board.write(chain, line)
        latest = Checkpoint(done.number, done.state, done.tuning, rng.bit_generator.state, line)
        checkpoints.update(latest)
    checkpoints.save()
    board.mark(chain, Stage.STOPPED if board.stopped else Stage.DONE)
    return Stretch(recorder.finish(), latest if plan.checkpoints is None else None)


def _mark_compilation(board: Board, chain: int, line: Line, now: bool) -> None:
    """Show that the compilation of a kernel begins, or that it has ended."""
    board.mark(chain, Stage.COMPILING if now else Stage(int(line.stage)))


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

    def save_now(self, checkpoint: Checkpoint) -> None:
        self._latest = checkpoint
        self.save()

    def update(self, checkpoint: Checkpoint) -> None:
        self._latest = checkpoint
        if self._path is not None and time.monotonic() - self._saved >= SECONDS_BETWEEN_CHECKPOINTS:
            self.save()

    def save(self) -> None:
        if self._path is not None and self._latest is not None:
            self._recorder.flush()
            save_checkpoint(self._path, self._latest)
            self._saved = time.monotonic()


def _recorder(plan: Plan, chain: int, sampler: Sampler[Any, Any, Any], done: int, draws: int) -> Recorder:
    """Return the recorder of a chain of which ``done`` iterations are already recorded."""
    warmed, drawn = min(done, plan.warmup), max(done - plan.warmup, 0)
    if plan.path is None:
        return MemoryRecorder(sampler.variables, max(draws - drawn, 0))
    names = statistic_names(sampler)
    return DiskRecorder(plan.path, chain, sampler.variables, names, plan.warmup, warmed=warmed, drawn=drawn)


def statistic_names(sampler: Sampler[Any, Any, Any]) -> tuple[str, ...]:
    """Return the names of the statistics recorded per iteration."""
    return (*sampler.statistic_names, PROCESSOR_TIME)


def _next_line(line: Line, statistics: dict[str, float], *, warming: bool) -> Line:
    step_sizes = [value for name, value in statistics.items() if name.startswith("step_size")]
    return line._replace(
        stage=Stage.WARMUP if warming else Stage.DRAWING,
        iteration=line.iteration + 1,
        step_size=min(step_sizes, default=float("nan")),
        leapfrog_steps=statistics.get("n_steps", 0.0),
        # Divergences during warm-up are not counted: they come from step sizes that are still being adapted.
        divergences=line.divergences + (0.0 if warming else statistics.get("diverging", 0.0)),
    )
