"""``manifill report``: one HTML page about a run."""

from manifill.cli.console import Console
from manifill.cli.options import Quiet, Run

__all__ = ["report"]


def report(run: Run, quiet: Quiet = False) -> None:
    """Write RUN/report.html: one page about the run that needs no network connection.

    **Example**

        manifill report run/
    """
    from manifill.report import report_of_run

    console = Console(quiet=quiet)
    console.note("reading the draws")
    console.note(f"report written to {report_of_run(run)}")
