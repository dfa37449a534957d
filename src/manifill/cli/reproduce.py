"""``manifill reproduce``: the paper's tables and figures, computed again."""

from pathlib import Path
from typing import Annotated

import typer

from manifill.cli.console import Console
from manifill.cli.options import Quiet

__all__ = ["reproduce"]


def reproduce(
    name: Annotated[
        str, typer.Argument(help="all, table-mad, table-time, fig-posterior, fig-traces, fig-mad, fig-rank or map.")
    ] = "all",
    out: Annotated[Path, typer.Option(help="Folder for tables, figures and index.html.")] = Path("results"),
    quick: Annotated[bool, typer.Option("--quick", help="Few iterations: everything within minutes.")] = False,
    full: Annotated[bool, typer.Option("--full", help="The paper's protocol: days on a small machine.")] = False,
    cases: Annotated[
        str, typer.Option(help="Only these data sets, comma-separated: case-1, case-2, case-3, mice, movielens.")
    ] = "",
    jobs: Annotated[int | None, typer.Option(help="Fits to run at a time [default: all processors].")] = None,
    quiet: Quiet = False,
) -> None:
    """Repeat the paper's experiments and compare the results with its printed figures.

    Finished fits are kept: after Ctrl-C, the same command continues where it stopped.

    **Examples**

        manifill reproduce all --out results/

        manifill reproduce fig-rank --quick
    """
    from manifill.paper import EXPERIMENTS, FULL, QUICK, USUAL
    from manifill.paper import reproduce as run
    from manifill.paper.cases import CASES

    if quick and full:
        raise ValueError("--quick and --full exclude each other; give one of them.")
    if jobs is not None and jobs < 1:
        raise ValueError(f"--jobs is the number of fits to run at a time, at least 1, not {jobs}.")
    wanted = tuple(part.strip() for part in cases.split(",")) if cases else tuple(CASES)
    console = Console(quiet=quiet)
    protocol = QUICK if quick else FULL if full else USUAL
    sections = run(EXPERIMENTS if name == "all" else [name], out, protocol, cases=wanted, jobs=jobs, quiet=quiet)
    for section in sections:
        answers = [verdict.answer.value for verdict in section.verdicts]
        counted = ", ".join(f"{answers.count(answer)} {answer}" for answer in dict.fromkeys(answers))
        console.note(f"{section.title}: {counted or 'figures'}")
    console.note(f"results written to {out / 'index.html'}")
