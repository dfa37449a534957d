"""``manifill report``: one HTML page about a run."""

import os
from pathlib import Path
from typing import Annotated

import typer

from manifill.base.wording import as_argument
from manifill.cli.console import Console
from manifill.cli.options import Quiet, Run, SkipDamaged

__all__ = ["report"]


def report(
    run: Run,
    out: Annotated[Path | None, typer.Option(help="The file to write [default: RUN/report.html].")] = None,
    skip_damaged: SkipDamaged = False,
    quiet: Quiet = False,
) -> None:
    """Write RUN/report.html: one page about the run that needs no network connection.

    **Examples**

        manifill report run/

        manifill report run/ --out report.html
    """
    from manifill.base.progress_display import displayed
    from manifill.report import report_of_run

    console = Console(quiet=quiet)
    path = run / "report.html" if out is None else out
    _check_destination(path, run)
    console.note("reading the draws")
    with displayed(visible=not quiet):
        report_of_run(run, path, skip_damaged=skip_damaged)
    console.note(f"report written to {path}")


def _check_destination(path: Path, run: Path) -> None:
    """Raise a ValueError if the file cannot be written, before the draws are read; a missing run is not its matter."""
    if path.parent != run and not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written because there is no folder {path.parent}; create it first.")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file, such as {path / 'report.html'}.")
    if path.parent.is_dir() and not os.access(path.parent, os.W_OK):
        elsewhere = f"manifill report {as_argument(run)} --out FILE"
        raise ValueError(f"{path} cannot be written because its folder is read-only; write it elsewhere: {elsewhere}")
