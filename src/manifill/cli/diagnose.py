"""``manifill diagnose``: whether the chains have converged, and whether the files of the run are intact."""

from pathlib import Path
from typing import Annotated

import typer

from manifill.cli.command_words import in_command_words
from manifill.cli.console import CommandExit, Console, ExitCode
from manifill.cli.convergence import exit_unless_converged, verdict_fields
from manifill.cli.finished_run import load_run
from manifill.cli.options import AsJson, Quiet, Run, SkipDamaged, Strict

__all__ = ["diagnose"]


def diagnose(
    run: Run,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every file of the run and list those that are damaged, instead.")
    ] = False,
    strict: Strict = False,
    skip_damaged: SkipDamaged = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge the draws by use, predictions and global quantities: green, amber or red, with reasons and remedies.

    The exit code is 0 if predictions are green, and 3 otherwise.

    **Examples**

        manifill diagnose run/ && echo predictions can be used

        manifill diagnose run/ --strict && echo singular values and hyper-parameters too

        manifill diagnose run/ --verify
    """
    from manifill.base.progress_display import displayed

    console = Console(quiet=quiet, as_json=as_json)
    if verify:
        _verify(run, console)
        return
    with displayed(visible=not quiet):
        found = load_run(run, skip_damaged=skip_damaged).diagnostics_
    fields = {
        **verdict_fields(found),
        "reasons": list(map(in_command_words, found.reasons)),
        "divergences": found.divergences,
        "quantities": [quantity._asdict() for quantity in found.quantities],
    }
    console.result(in_command_words(found.tables()), fields)
    exit_unless_converged(found, strict=strict)


def _verify(run: Path, console: Console) -> None:
    """Print which files of a run are missing or damaged, one per line, or that none are."""
    from manifill.base.progress_display import displayed
    from manifill.run.verification import verify_run

    with displayed(visible=not console.quiet):
        found = verify_run(run)
    fields = {
        "run": str(run),
        "intact": not found.damage,
        "files": found.files,
        "has_checksums": found.has_checksums,
        "damage": [{"file": str(one.file), "problem": one.problem} for one in found.damage],
    }
    if found.damage:
        console.result("\n".join(map(str, found.damage)), fields)
        raise CommandExit(ExitCode.USER_ERROR)
    intact = f"All {found.files} files of {run} are intact."
    if not found.has_checksums:
        intact = (
            f"All {found.files} files of {run} can be read; its format has no checksums, so values were not verified."
        )
    console.result(intact, fields)
