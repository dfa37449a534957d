"""Tasks in parallel: in worker processes, in this process, or on the cluster that ``joblib.parallel_config`` names.

joblib's own pool ends all workers if one of them dies, as it does if the operating system runs out of memory.  Here
every worker process has a pool of its own, of size one, so that one that dies costs only its own task.  The task is
started again, once.  Workers that are idle are kept for the next tasks.
"""

import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import joblib
from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor
from joblib.externals.loky.backend import resource_tracker as loky_tracker
from joblib.externals.loky.process_executor import ShutdownExecutorError, TerminatedWorkerError
from joblib.parallel import LokyBackend, get_active_backend

from manifill.sampling.shared_value import InFile, InMemory, Shared

__all__ = ["Death", "Workers", "open_workers", "quiet_worker_replacement"]

SECONDS_BETWEEN_CHECKS = 1.0  # of a worker, whether its parent lives
IDLE_SECONDS = 60.0  # after which an idle worker exits
SECONDS_TO_START = 5.0  # within which an executor surely takes a task

# A worker computes in one thread; BLAS would start as many as there are processors.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

# What an interrupt from a terminal or a scheduler sends to all processes of a command.  The parent handles it.
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


class Death(NamedTuple):
    """The death of a worker process, in place of the result of its task."""

    signals: tuple[str, ...]  # names of the signals that ended it, if known

    @property
    def cause(self) -> str:
        """What happened to the worker, to follow its name and "was" or "were"."""
        if self.signals in ((), ("SIGKILL",)):
            return "killed, perhaps for lack of memory"
        return f"ended by {' and '.join(self.signals)}"


# Called with the number of a task whose worker has died, and whether the task is started again.
OnDeath = Callable[[int, Death, bool], None]


class Workers(Protocol):
    """Runs tasks."""

    def share(self, value: Any, path: Path) -> Shared[Any]:
        """Return a large value in the form in which tasks take it; it may be written to ``path``."""

    def results(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], on_death: OnDeath
    ) -> Iterator[tuple[int, Any]]:
        """Yield the number and the result of each call as it ends; a Death if its worker died, and again."""

    def kill(self) -> None:
        """End the tasks that are running, at once if they are in other processes."""


@contextmanager
def open_workers(jobs: int | None) -> Iterator[Workers]:
    """Open what runs ``jobs`` tasks at a time; None means all processors, or what ``parallel_config`` says.

    If the block raises an exception, running tasks are killed.  The configuration of joblib is that of this thread.
    """
    _start_trackers()  # which would also unblock interrupts if they were started together with the first worker
    workers = _choose(jobs)
    with quiet_worker_replacement():
        try:
            yield workers
        except BaseException:
            workers.kill()
            raise


def _choose(jobs: int | None) -> Workers:
    if jobs == 1:  # also on a cluster: a fit that is itself a task there would wait for a worker that it occupies
        return _ThisProcess()
    backend, configured = get_active_backend()
    if not isinstance(backend, LokyBackend):
        return _Configured(jobs)
    if jobs is None:
        jobs = joblib.cpu_count() if configured in (None, 1) else configured  # 1 is joblib's default
    size = joblib.effective_n_jobs(jobs)
    return _ThisProcess() if size == 1 else _Processes(size)


class _ThisProcess:
    def share(self, value: Any, path: Path) -> Shared[Any]:
        return InMemory(value)

    def results(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], on_death: OnDeath
    ) -> Iterator[tuple[int, Any]]:
        for k, each in enumerate(arguments):
            yield k, function(*each)

    def kill(self) -> None:
        """Do nothing: the caller's exception ends the task, or its stop flag does."""


class _Configured:
    """A cluster, or whatever else the user has configured for joblib, which restarts dead workers as it sees fit."""

    def __init__(self, jobs: int | None) -> None:
        # Workers memory-map large arrays copy-on-write: memory is shared, and kernels still see writable arrays, the
        # type that they are compiled for.
        self._parallel = joblib.Parallel(jobs, return_as="generator_unordered", batch_size=1, mmap_mode="c")

    def share(self, value: Any, path: Path) -> Shared[Any]:
        return InMemory(value)

    def results(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], on_death: OnDeath
    ) -> Iterator[tuple[int, Any]]:
        done: Iterator[tuple[int, Any]] = self._parallel(
            joblib.delayed(_numbered)(k, function, each) for k, each in enumerate(arguments)
        )
        return done

    def kill(self) -> None:
        """Do nothing: joblib ends the tasks when their results are no longer awaited."""


def _numbered(number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[int, Any]:
    return number, function(*arguments)


# Executors of one process each that have no task now.
_idle: list[ProcessPoolExecutor] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # the child of a fork cannot use its parent's workers


class _Processes:
    """Worker processes on this machine, each with an executor of its own."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._busy: dict[ProcessPoolExecutor, Future[Any]] = {}  # and the task of each
        self._killed = False

    def share(self, value: Any, path: Path) -> Shared[Any]:
        return InFile.write(path, value)

    def results(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], on_death: OnDeath
    ) -> Iterator[tuple[int, Any]]:
        with ThreadPoolExecutor(max(1, min(self._size, len(arguments))), initializer=_block_interrupts) as threads:
            futures = {
                threads.submit(self._run, function, each, _numbering(on_death, k)): k
                for k, each in enumerate(arguments)
            }
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            except BaseException:
                self.kill()
                threads.shutdown(wait=False, cancel_futures=True)
                raise

    def kill(self) -> None:
        self._killed = True
        with suppress(KeyError):  # raised if no executor is left; no other thread shuts down one that was taken
            while True:
                executor, future = self._busy.popitem()
                _wait_until_taken(future)
                executor.shutdown(wait=False, kill_workers=True)

    def _run(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], on_death: Callable[[Death, bool], None]
    ) -> Any:
        for again in (True, False):
            result = self._run_once(function, arguments)
            if not isinstance(result, Death) or self._killed:
                break
            on_death(result, again)
        return result

    def _run_once(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        if self._killed:
            return Death(())
        executor, future = _submitted(function, arguments)
        self._busy[executor] = future
        if self._killed:
            self.kill()
        try:
            result = future.result()
        except TerminatedWorkerError as error:
            return Death(tuple(sorted(set(re.findall(r"\bSIG[A-Z]+", str(error))))))
        except ShutdownExecutorError:  # by ``kill``
            return Death(())
        except Exception:
            _idle.append(executor)  # the error is that of the task, and the worker lives
            raise
        finally:
            self._busy.pop(executor, None)
        _idle.append(executor)
        return result


def _numbering(on_death: OnDeath, number: int) -> Callable[[Death, bool], None]:
    return lambda death, again: on_death(number, death, again)


def _wait_until_taken(future: Future[Any]) -> None:
    """Wait until the thread of an executor has taken a task that was just submitted.

    If the executor is shut down before, this thread drops the task, looks for it all the same, and dies with a
    traceback.
    """
    end = time.monotonic() + SECONDS_TO_START
    while not (future.running() or future.done()) and time.monotonic() < end:
        time.sleep(0.001)


def _submitted(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[ProcessPoolExecutor, Future[Any]]:
    """Give a task to an idle worker, or to a new one."""
    with suppress(IndexError):  # raised if no worker is idle
        while True:
            executor = _idle.pop()
            with suppress(BrokenProcessPool, RuntimeError):  # raised if its worker was killed while it was idle
                return executor, executor.submit(function, *arguments)
    executor = ProcessPoolExecutor(
        1, timeout=IDLE_SECONDS, initializer=_begin_worker, initargs=(os.getpid(),), env=ONE_THREAD
    )
    return executor, executor.submit(function, *arguments)


def _start_trackers() -> None:
    """Start the processes that remove semaphores and scratch folders when all others are gone.

    They would warn of everything that they remove after a kill, where nobody else could have.
    """
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore"
    try:
        loky_tracker.ensure_running()
        resource_tracker.ensure_running()
    finally:
        os.environ.pop("PYTHONWARNINGS") if before is None else os.environ.update(PYTHONWARNINGS=before)


def _block_interrupts() -> None:
    """Block interrupts in this thread, and so in the workers that it starts, until they ignore them."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)


def _begin_worker(parent: int) -> None:
    """Prepare a new worker process: it ignores interrupts, and exits soon after its parent, idle or busy."""
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, args=(parent,), daemon=True).start()


def _exit_with_parent(parent: int) -> None:
    # On Windows the number of a parent does not change when it dies, and workers end when they next report a result.
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_CHECKS)
    os._exit(1)


@contextmanager
def quiet_worker_replacement() -> Iterator[None]:
    """Suppress the warning about a replaced worker, which loses nothing.

    A worker whose memory has grown, as it does when kernels are compiled, exits after its task and is replaced.  The
    warning is issued in the thread that runs the pool: if warnings are errors, that thread dies and the caller waits
    forever.  Warning filters apply to the whole process, so the waiting thread sets this one.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        yield
