"""``manifill report``, ``diagnose`` and ``demo``: is it any good?"""

from pathlib import Path
from typing import Annotated

import typer

from manifill.cli.options import AsJson, Quiet, Run
from manifill.cli.words import NOT_CONVERGED, EndWith, Voice
from manifill.loading import load

__all__ = ["demo", "diagnose", "report"]


def report(run: Run, quiet: Quiet = False) -> None:
    """Write RUN/report.html: one page about the run, readable without a network.

    **Example**

        manifill report run/
    """
    from manifill.report import report_of_run

    voice = Voice(quiet=quiet)
    voice.say("reading the draws")
    voice.say(f"the report is {report_of_run(run)}")


def diagnose(run: Run, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Say whether the chains have converged; the exit code is 0 if they have, and 3 if not.

    **Example**

        manifill diagnose run/ && echo good
    """
    found = load(run).diagnostics_
    facts = {
        "converged": found.converged,
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        "divergences": found.divergences,
        "quantities": [quantity._asdict() for quantity in found.quantities],
    }
    Voice(quiet=quiet, as_json=as_json).tell(str(found), facts)
    if not found.converged:
        raise EndWith(NOT_CONVERGED)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("demo"),
    draws: Annotated[int, typer.Option(help="Draws of each chain; warm-up is half as long.")] = 1000,
) -> None:
    """Complete a made-up matrix and draw it beside the truth.

    **Example**

        manifill demo
    """
    from manifill.demo import run_demo

    run_demo(out, draws)
