"""The commands put together, and their errors turned into messages and exit codes."""

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from manifill.cli.complete import complete
from manifill.cli.console import CommandExit, ExitCode, Interrupted, print_error
from manifill.cli.demo import demo
from manifill.cli.diagnose import diagnose
from manifill.cli.fit import fit
from manifill.cli.predict import predict
from manifill.cli.report import report
from manifill.cli.reproduce import reproduce
from manifill.cli.top import top

__all__ = ["app", "run"]

HELP = """
Fill in the missing entries of a table, with honest intervals.

A first run:

    manifill fit table.csv --out run/

    manifill report run/

Exit codes: 0 success; 2 wrong arguments or unusable data (one line explains it, and nothing is written); 3 the chains
have not converged; 130 interrupted (the draws so far are kept; continue with --resume).
"""

# The base class of all errors in arguments; which Click package it comes from depends on the version of Typer.
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
        from manifill import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def manifill(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Take the options that belong to no command."""


def _interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with KeyboardInterrupt replaced by an exception that Typer lets pass."""

    @wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(str(interrupt)) from None

    return wrapped


for command in (fit, predict, complete, top, report, diagnose, demo, reproduce):
    app.command(command.__name__)(_interruptible(command))


def run() -> int:
    """Run a command and return its exit code; an error is printed as one line, never as a traceback.

    An interrupt is raised as KeyboardInterrupt, with a message if there is one.
    """
    warnings.showwarning = lambda message, *_, **__: print_error(str(message))  # one line, without a place in the code
    try:
        code = app(prog_name="manifill", standalone_mode=False)
    except CommandExit as end:
        return end.code
    except ClickError as error:
        if error.format_message():  # type: ignore[attr-defined]
            print_error(error.format_message())  # type: ignore[attr-defined]
        return ExitCode.USER_ERROR
    except (ValueError, ImportError, OSError) as error:
        print_error(str(error))
        return ExitCode.USER_ERROR
    except (Interrupted, typer.Abort) as interrupt:
        raise KeyboardInterrupt(str(interrupt)) from None
    if code == ExitCode.INTERRUPTED:  # from Typer: Ctrl-C before the command began
        raise KeyboardInterrupt
    return code if isinstance(code, int) else ExitCode.SUCCESS
