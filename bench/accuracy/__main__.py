"""Accuracy of this package with default settings, compared with other packages: ``make bench-accuracy``.

Every method runs on five splits of each table, each fit in its own process.  Figures are stored in a file as they come;
a second call continues where the first one stopped.  The tables are printed at the end.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from problems import has_real_data

from accuracy.curve_report import curve_report
from accuracy.methods import choices, ours
from accuracy.registry import METHODS, quick_tasks, tasks
from accuracy.report import report
from accuracy.runner import Results, run
from accuracy.tables import SPLITS, TABLES

QUICK_LIMIT = 3.0  # minutes, which suffice to compile the kernels


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, prog="accuracy")
    parser.add_argument("--quick", action="store_true", help="one split and few iterations: a few minutes")
    parser.add_argument("--tables", default="", help="only tables whose names contain one of these, by comma")
    parser.add_argument("--methods", default="", help="only methods whose names contain one of these, by comma")
    parser.add_argument("--peers", action="store_true", help="only the other packages")
    parser.add_argument("--choices", action="store_true", help="this package with other choices than its defaults")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--limit", type=float, default=20.0, help="minutes for a fit [default: 20]")
    parser.add_argument("--results", type=Path, default=Path("results/accuracy"), help="folder of the figures")
    parser.add_argument("--report-only", action="store_true", help="print the tables of what there is")
    return parser.parse_args()


def chosen(names: list[str], given: str) -> list[str]:
    """Return the names that contain one of the given parts."""
    parts = [part.strip().lower() for part in given.split(",")]
    return [name for name in names if any(part in name.lower() for part in parts)]


def error_by_time(folder: Path, quick: bool, report_only: bool) -> str:
    """Measure how the error falls with time, unless that is done, and return the figures."""
    folder = folder / ("quick" if quick else "full")
    figures = folder / "error_by_time.json"
    if not (figures.exists() or report_only):
        command = [sys.executable, "-m", "accuracy.error_by_time", str(folder), *["--quick"] * quick]
        subprocess.run(command, stdout=subprocess.DEVNULL)
    return curve_report(figures) if figures.exists() else "RMSE against seconds has not been measured."


def main() -> None:
    given = options()
    kind = "quick" if given.quick else "full"
    results = Results(given.results / (f"choices-{kind}.jsonl" if given.choices else f"{kind}.jsonl"))
    known = choices.METHODS if given.choices else METHODS
    tables, methods = chosen(list(TABLES), given.tables), chosen(list(known), given.methods)
    if given.peers:
        methods = [name for name in methods if name != ours.NAME]
    if not (has_real_data() or given.report_only):
        print("MovieLens and mice are left out: MANIFILL_DATA is not set", file=sys.stderr)
        tables = [name for name in tables if not TABLES[name].needs_files]
    if not given.report_only:
        todo = quick_tasks(tables, methods) if given.quick else list(tasks(tables, methods, given.splits))
        run(todo, results, given.quick, 60.0 * (QUICK_LIMIT if given.quick else given.limit))
    print(report(results.records()))
    if "MovieLens" in tables and ours.NAME in methods:
        print(error_by_time(given.results, given.quick, given.report_only))


if __name__ == "__main__":
    main()
