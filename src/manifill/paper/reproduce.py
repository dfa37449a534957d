"""Every numerical result of the paper, from tasks to a page."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from manifill.paper.cases import CASES
from manifill.paper.fig_mad import fig_mad
from manifill.paper.fig_posterior import fig_posterior, marginals
from manifill.paper.fig_rank import fig_rank, rank_fits
from manifill.paper.fig_traces import fig_traces
from manifill.paper.fits import check_data, fits
from manifill.paper.groups import grouped
from manifill.paper.nuclear import map_section, modes
from manifill.paper.pictures import check_matplotlib
from manifill.paper.protocol import USUAL, Protocol
from manifill.paper.results import Result
from manifill.paper.section import Section
from manifill.paper.table_mad import table_mad
from manifill.paper.table_time import table_time
from manifill.paper.work import finished, run_tasks, unfinished
from manifill.paper.write import write_page

__all__ = ["EXPERIMENTS", "reproduce"]

Results = Mapping[str, Result]


class Experiment(NamedTuple):
    """The tasks that an experiment needs, and what it makes of their results."""

    tasks: Callable[[Protocol, tuple[str, ...]], list[Any]]
    section: Callable[[list[Any], Results, Path], Section]  # of tasks, results, and the folder for pictures


EXPERIMENTS = {
    "table-mad": Experiment(fits, lambda tasks, results, _: table_mad(grouped(tasks, results))),
    "table-time": Experiment(fits, lambda tasks, results, _: table_time(grouped(tasks, results))),
    "fig-posterior": Experiment(lambda protocol, _: marginals(protocol), fig_posterior),  # data of its own
    "fig-traces": Experiment(fits, lambda tasks, results, folder: fig_traces(grouped(tasks, results), folder)),
    "fig-mad": Experiment(fits, lambda tasks, results, folder: fig_mad(grouped(tasks, results), folder)),
    "fig-rank": Experiment(rank_fits, fig_rank),
    "map": Experiment(lambda _, cases: modes(cases), lambda tasks, results, _: map_section(tasks, results)),
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
    """Run experiments, and write tables, pictures, ``results.json`` and ``index.html`` to the folder ``out``.

    What an earlier call has finished there is not run again.  Real data come from ``MANIFILL_DATA`` or are downloaded.

    Parameters
    ----------
    names
        Keys of ``EXPERIMENTS``.
    out
        Folder, made if it is not there.
    protocol
        How many iterations and repetitions: ``QUICK``, ``USUAL`` or ``FULL``.
    cases
        The data sets to use; all by default.
    jobs
        Fits to run at a time; all processors by default, or what ``joblib.parallel_config`` says.
    quiet
        Whether to show nothing while the fits run.
    """
    check_matplotlib()
    folder = Path(out)
    chosen = _known(names, EXPERIMENTS, "is no experiment of the paper; choose all or one of")
    wanted = _wanted(chosen, protocol, _known(cases, CASES, "is no data set of the paper; choose among"))
    check_data(unfinished(wanted, folder / "tasks"))
    try:
        run_tasks(wanted, folder / "tasks", jobs=jobs, quiet=quiet)
    finally:  # a run that was stopped has a page of what it has done
        sections = _write(folder, protocol)
    return [section for section in sections if section.name in chosen]


def _known(names: Iterable[str], known: Iterable[str], said: str) -> tuple[str, ...]:
    """Return names in the order of those that are known."""
    given, order = set(names), tuple(known)
    unknown = sorted(given - set(order))
    if unknown:
        raise ValueError(f"{unknown[0]!r} {said} {', '.join(order)}.")
    return tuple(name for name in order if name in given)


def _wanted(names: Iterable[str], protocol: Protocol, cases: tuple[str, ...]) -> list[Any]:
    """Return the tasks of experiments on some of the data."""
    tasks = [task for name in names for task in EXPERIMENTS[name].tasks(protocol, cases)]
    if not tasks:
        raise ValueError(f"{', '.join(names)} has nothing to do with {', '.join(cases)}; choose other data.")
    return tasks


def _write(folder: Path, protocol: Protocol) -> list[Section]:
    """Write the page of all that this and earlier calls with the protocol have finished."""
    needed = {name: experiment.tasks(protocol, tuple(CASES)) for name, experiment in EXPERIMENTS.items()}
    results = finished((task for tasks in needed.values() for task in tasks), folder / "tasks")
    done = {name: [task for task in tasks if task.key in results] for name, tasks in needed.items()}
    sections = [
        experiment.section(done[name], results, folder / "figures")
        for name, experiment in EXPERIMENTS.items()
        if done[name]
    ]
    if sections:
        every = {task.key for tasks in needed.values() for task in tasks}
        write_page(folder, sections, protocol, results, missing=len(every) - len(results))
    return sections
