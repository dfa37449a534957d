"""The commands put together, and their errors turned into messages and exit codes."""

import errno
import io
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from manifill.cli.command_words import in_command_words
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

Exit codes: 0 success; 2 wrong arguments, unusable data, a damaged run, or a file that cannot be read or written (one
line explains it, and nothing that exists is changed); 3 the chains have not converged; 130 interrupted by Ctrl-C, 143
by SIGTERM (the draws so far are kept; continue with --resume).
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
            raise Interrupted(interrupt) from None

    return wrapped


for command in (fit, predict, complete, top, report, diagnose, demo, reproduce):
    app.command(command.__name__)(_interruptible(command))


def _message(error: Exception) -> str:
    """Return the message of an error in the words of the command line."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):  # of standard output, for example
        return "the disk is full; free space and try again."
    if isinstance(error, OSError) and error.filename is not None:  # from the system, which gives it a number
        return f"{error.filename} cannot be used: {error.strerror}; give another path."
    return in_command_words(error)


def run() -> int:
    """Run a command and return its exit code; an error is printed as one line, never as a traceback.

    An interrupt is raised as KeyboardInterrupt, with a message if there is one.
    """
    warnings.showwarning = lambda message, *_, **__: print_error(message)  # one line, without a place in the code
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as Python does on standard error: no label is an error
    try:
        code = app(prog_name="manifill", standalone_mode=False)
    except CommandExit as end:
        return end.code
    except ClickError as error:
        if error.format_message():  # type: ignore[attr-defined]
            print_error(error.format_message())  # type: ignore[attr-defined]
        return ExitCode.USER_ERROR
    except (ValueError, ImportError, OSError) as error:
        print_error(_message(error))
        return ExitCode.USER_ERROR
    except Interrupted as end:
        raise end.interrupt from None
    except typer.Abort as interrupt:
        raise KeyboardInterrupt(str(interrupt)) from None
    if code == ExitCode.INTERRUPTED:  # from Typer: Ctrl-C before the command began
        raise KeyboardInterrupt
    return code if isinstance(code, int) else ExitCode.SUCCESS
