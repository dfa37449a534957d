"""Tasks side by side, each done once: what an earlier run has finished is read, what it has begun is gone on with."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import joblib

from manifill.files import locked
from manifill.paper.progress import Tally, shown
from manifill.paper.provenance import with_provenance
from manifill.paper.results import Result, Task, load_result, save_result
from manifill.sampling.workers import end_with, replaced_in_silence

__all__ = ["finished", "run_tasks", "unfinished"]


COMPILING = "a new machine compiles their kernels first, for a minute or two"


def run_tasks(tasks: Iterable[Task], folder: Path, *, jobs: int | None, quiet: bool) -> Mapping[str, Result]:
    """Return the result of every task under its key; ``folder`` keeps them.

    All processors work unless ``jobs`` says otherwise, or the cluster that ``joblib.parallel_config`` names, whose
    workers must see ``folder``.  The costliest tasks come first, so that no processor waits long for the last one.
    """
    every = {task.key: task for task in tasks}
    results = finished(every.values(), folder)
    missing = sorted((task for key, task in every.items() if key not in results), key=lambda task: -task.cost)
    folder = folder.absolute()  # workers may have been started in another one
    folder.mkdir(parents=True, exist_ok=True)
    if missing and not quiet:
        before = f"; {len(results)} more are there already" if results else ""
        print(f"manifill: {len(missing)} to run, the longest first{before}; {COMPILING}", file=sys.stderr, flush=True)
    tally = Tally(missing, _scratch(folder))
    with locked(folder / "run.lock", wait=False) as alone:
        if not alone:
            raise ValueError(f"another process is working in {folder}; wait for it, or choose another folder.")
        with shown(tally, quiet=quiet), replaced_in_silence():
            for task, result in _finished(missing, folder, jobs):
                results[task.key] = result
                tally.finish(task)
    return results


def finished(tasks: Iterable[Task], folder: Path) -> dict[str, Result]:
    """Return the results that are there."""
    found = {task.key: load_result(_file(folder, task.key)) for task in tasks}
    return {key: result for key, result in found.items() if result is not None}


def unfinished(tasks: Iterable[Task], folder: Path) -> list[Task]:
    """Return the tasks that have no result yet."""
    return [task for task in tasks if not _file(folder, task.key).exists()]


def _finished(tasks: Sequence[Task], folder: Path, jobs: int | None) -> Iterator[tuple[Task, Result]]:
    # None leaves the number to ``parallel_config``, which is 1 where nobody has called it.
    configured = joblib.Parallel().n_jobs != 1
    parallel = joblib.Parallel(jobs or (None if configured else -1), return_as="generator_unordered", batch_size=1)
    done: Iterator[tuple[Task, Result]] = parallel(joblib.delayed(_do)(task, folder, os.getpid()) for task in tasks)
    return done


def _do(task: Task, folder: Path, parent: int) -> tuple[Task, Result]:
    """Do a task, keep its result, and only then let go of what it was made from."""
    end_with(parent)
    scratch = _scratch(folder)
    result = with_provenance(task.run(scratch))
    save_result(_file(folder, task.key), result)
    shutil.rmtree(scratch / task.key, ignore_errors=True)
    return task, result


def _scratch(folder: Path) -> Path:
    return folder / "begun"


def _file(folder: Path, key: str) -> Path:
    return folder / f"{key}.npz"
