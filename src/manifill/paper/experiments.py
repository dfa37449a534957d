"""The experiments of the paper, and ``reproduce``, which runs them and writes the results."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from manifill.paper.cases import CASES
from manifill.paper.fig_mad import fig_mad
from manifill.paper.fig_posterior import factor_marginals, fig_posterior
from manifill.paper.fig_rank import fig_rank, rank_fits
from manifill.paper.fig_traces import fig_traces
from manifill.paper.fit_task import check_data, table_fits
from manifill.paper.map_comparison import map_comparisons, map_section
from manifill.paper.page_section import Section
from manifill.paper.plotting import check_matplotlib
from manifill.paper.protocol import USUAL, Protocol
from manifill.paper.repetition_groups import group_repetitions
from manifill.paper.results_folder import write_results_folder
from manifill.paper.table_mad import table_mad
from manifill.paper.table_time import table_time
from manifill.paper.task_runner import finished_results, run_tasks, unfinished_tasks
from manifill.paper.tasks import Result

__all__ = ["EXPERIMENTS", "reproduce"]

Results = Mapping[str, Result]


class Experiment(NamedTuple):
    """The tasks that an experiment needs, and the section of the page that it makes from their results."""

    tasks: Callable[[Protocol, tuple[str, ...]], list[Any]]
    section: Callable[[list[Any], Results, Path], Section]  # (tasks, results, folder for figures) -> section


EXPERIMENTS = {
    "table-mad": Experiment(table_fits, lambda tasks, results, _: table_mad(group_repetitions(tasks, results))),
    "table-time": Experiment(table_fits, lambda tasks, results, _: table_time(group_repetitions(tasks, results))),
    # fig-posterior has its own data and does not depend on the cases.
    "fig-posterior": Experiment(lambda protocol, _: factor_marginals(protocol), fig_posterior),
    "fig-traces": Experiment(
        table_fits, lambda tasks, results, folder: fig_traces(group_repetitions(tasks, results), folder)
    ),
    "fig-mad": Experiment(
        table_fits, lambda tasks, results, folder: fig_mad(group_repetitions(tasks, results), folder)
    ),
    "fig-rank": Experiment(rank_fits, fig_rank),
    "map": Experiment(lambda _, cases: map_comparisons(cases), lambda tasks, results, _: map_section(tasks, results)),
}


def reproduce(
    names: Iterable[str],
    out: str | Path,
    protocol: Protocol = USUAL,
    *,
    cases: Iterable[str] = tuple(CASES),
    jobs: int | None = None,
    quiet: bool = False,
) -> list[Section]:
    """Run experiments, and write tables, figures, ``results.json`` and ``index.html`` to the folder ``out``.

    Tasks that an earlier call finished in ``out`` are not run again.  Real data are read from ``MANIFILL_DATA`` or
    downloaded.

    Parameters
    ----------
    names
        Keys of ``EXPERIMENTS``.
    out
        Output folder, created if it does not exist.
    protocol
        The number of iterations and repetitions: ``QUICK``, ``USUAL`` or ``FULL``.
    cases
        The data sets to use; all by default.
    jobs
        The number of fits to run at a time; by default the number of processors, or the setting of
        ``joblib.parallel_config``.
    quiet
        Whether to suppress the display of progress.
    """
    check_matplotlib()
    folder = Path(out)
    chosen = _check_names(names, EXPERIMENTS, "is not an experiment of the paper; choose all or one of")
    checked_cases = _check_names(cases, CASES, "is not a data set of the paper; choose from")
    needed = _needed_tasks(chosen, protocol, checked_cases)
    check_data(unfinished_tasks(needed, folder / "tasks"))
    try:
        run_tasks(needed, folder / "tasks", jobs=jobs, quiet=quiet)
    finally:  # an interrupted run still gets a page of its finished tasks
        sections = _write_finished(folder, protocol)
    return [section for section in sections if section.name in chosen]


def _check_names(names: Iterable[str], known: Iterable[str], complaint: str) -> tuple[str, ...]:
    """Return names in the order of ``known``, or raise a ValueError for an unknown one."""
    given, order = set(names), tuple(known)
    unknown = sorted(given - set(order))
    if unknown:
        raise ValueError(f"{unknown[0]!r} {complaint} {', '.join(order)}.")
    return tuple(name for name in order if name in given)


def _needed_tasks(names: Iterable[str], protocol: Protocol, cases: tuple[str, ...]) -> list[Any]:
    """Return the tasks of some experiments on some data sets."""
    tasks = [task for name in names for task in EXPERIMENTS[name].tasks(protocol, cases)]
    if not tasks:
        raise ValueError(f"{', '.join(names)} does not use {', '.join(cases)}; choose other data.")
    return tasks


def _write_finished(folder: Path, protocol: Protocol) -> list[Section]:
    """Write the results of all tasks of the protocol that this call and earlier ones have finished."""
    needed = {name: experiment.tasks(protocol, tuple(CASES)) for name, experiment in EXPERIMENTS.items()}
    results = finished_results((task for tasks in needed.values() for task in tasks), folder / "tasks")
    done = {name: [task for task in tasks if task.key in results] for name, tasks in needed.items()}
    sections = [
        experiment.section(done[name], results, folder / "figures")
        for name, experiment in EXPERIMENTS.items()
        if done[name]
    ]
    if sections:
        every = {task.key for tasks in needed.values() for task in tasks}
        write_results_folder(folder, sections, protocol, results, missing=len(every) - len(results))
    return sections
