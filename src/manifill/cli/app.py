"""The commands put together, and what becomes of errors."""

import sys
from typing import Annotated

import typer

from manifill import __version__
from manifill.cli import ask, fit, judge, reproduce
from manifill.cli.words import INTERRUPTED, MISTAKE, EndWith, complain

__all__ = ["app", "main"]

HELP = """
Fill in the missing entries of a table, with honest intervals.

A first run:

    manifill fit table.csv --out run/

    manifill report run/

Exit codes: 0 good; 2 a mistake in what was asked (one line says which, and nothing is written); 3 the chains have not
converged; 130 interrupted (what was drawn is kept, and --resume goes on).
"""

# The base of all mistakes on the command line; which Click it is from depends on the version of Typer.
ClickError: type[Exception] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def manifill(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Take options that belong to no command."""


app.command("fit")(fit.fit)
app.command("predict")(ask.predict)
app.command("complete")(ask.complete)
app.command("top")(ask.top)
app.command("report")(judge.report)
app.command("diagnose")(judge.diagnose)
app.command("demo")(judge.demo)
app.command("reproduce")(reproduce.reproduce)


def main() -> None:
    """Run a command; a mistake is one line and a code, never a traceback."""
    sys.exit(_run())


def _run() -> int:
    try:
        code = app(prog_name="manifill", standalone_mode=False)
    except EndWith as stop:
        return stop.code
    except ClickError as error:
        if error.format_message():  # type: ignore[attr-defined]
            complain(error.format_message())  # type: ignore[attr-defined]
        return MISTAKE
    except (ValueError, ImportError, OSError) as error:
        complain(str(error))
        return MISTAKE
    except (KeyboardInterrupt, typer.Abort) as error:
        complain(str(error) or "interrupted")
        return INTERRUPTED
    return code if isinstance(code, int) else 0
