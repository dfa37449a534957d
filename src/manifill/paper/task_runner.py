"""Runs tasks in parallel: results of earlier runs are read, interrupted tasks are resumed."""

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from manifill.base.atomic_files import locked
from manifill.paper.result_provenance import with_provenance
from manifill.paper.task_progress import TaskProgress, displayed_progress
from manifill.paper.tasks import Result, Task, load_result, save_result
from manifill.sampling.workers import Death, open_workers

__all__ = ["finished_results", "run_tasks", "unfinished_tasks"]


COMPILING = "on a new machine the kernels are compiled first, which takes a minute or two"


def run_tasks(tasks: Iterable[Task], folder: Path, *, jobs: int | None, quiet: bool) -> Mapping[str, Result]:
    """Return the result of every task by its key; the results are stored in ``folder``.

    ``jobs`` tasks run at a time; by default as many as there are processors, or on the cluster that
    ``joblib.parallel_config`` names, whose workers must have access to ``folder``.  The longest tasks start first, so
    that no processor waits long for the last one.
    """
    every = {task.key: task for task in tasks}
    results = finished_results(every.values(), folder)
    missing = sorted((task for key, task in every.items() if key not in results), key=lambda task: -task.cost)
    folder = folder.absolute()  # workers may have another working directory
    folder.mkdir(parents=True, exist_ok=True)
    if missing and not quiet:
        before = f"; {len(results)} already finished" if results else ""
        print(f"manifill: {len(missing)} to run, the longest first{before}; {COMPILING}", file=sys.stderr, flush=True)
    progress = TaskProgress(missing, _scratch(folder))
    with locked(folder / "run.lock", wait=False) as alone:
        if not alone:
            raise ValueError(f"another process is working in {folder}; wait for it, or choose another folder.")
        with displayed_progress(progress, quiet=quiet):
            for task, result in _run_in_parallel(missing, folder, jobs):
                results[task.key] = result
                progress.finish(task)
    return results


def finished_results(tasks: Iterable[Task], folder: Path) -> dict[str, Result]:
    """Return the stored results by key; tasks without a readable result are left out."""
    found = {task.key: load_result(_result_path(folder, task.key)) for task in tasks}
    return {key: result for key, result in found.items() if result is not None}


def unfinished_tasks(tasks: Iterable[Task], folder: Path) -> list[Task]:
    """Return the tasks that have no result yet."""
    return [task for task in tasks if not _result_path(folder, task.key).exists()]


def _run_in_parallel(tasks: Sequence[Task], folder: Path, jobs: int | None) -> Iterator[tuple[Task, Result]]:
    with open_workers(jobs) as workers:
        for k, result in workers.results(_run_and_save, [(task, folder) for task in tasks], _say_death):
            if isinstance(result, Death):
                raise ChildProcessError(f"{tasks[k].key} was {result.cause}; run the same command again to resume.")
            yield tasks[k], result


def _say_death(index: int, death: Death, again: bool) -> None:
    if again:
        print(f"manifill: a process was {death.cause}; its task is started again", file=sys.stderr, flush=True)


def _run_and_save(task: Task, folder: Path) -> Result:
    """Run a task, save its result, and only then delete its scratch files."""
    scratch = _scratch(folder)
    result = with_provenance(task.run(scratch))
    save_result(_result_path(folder, task.key), result)
    shutil.rmtree(scratch / task.key, ignore_errors=True)
    return result


def _scratch(folder: Path) -> Path:
    return folder / "begun"


def _result_path(folder: Path, key: str) -> Path:
    return folder / f"{key}.npz"
