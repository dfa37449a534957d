"""Output of the commands, and their exit codes.

Results go to standard output, as text or as one JSON object; notes and errors go to standard error.
"""

import json
import sys
from enum import IntEnum
from typing import Any

from manifill.cli.command_words import in_command_words

__all__ = ["CommandExit", "Console", "ExitCode", "Interrupted", "print_error"]


class ExitCode(IntEnum):
    """What the shell sees when a command ends."""

    SUCCESS = 0
    USER_ERROR = 2  # wrong arguments, or data that cannot be used
    NOT_CONVERGED = 3  # predictions are not green, or with --strict not everything is
    INTERRUPTED = 130  # 128 + SIGINT, as shells have it; a command that SIGTERM ends has 143


class CommandExit(Exception):  # noqa: N818 - the regular end of a command, not an error
    """Ends a command with an exit code; all output has been printed."""

    def __init__(self, code: ExitCode) -> None:
        super().__init__(code)
        self.code = code


class Interrupted(Exception):  # noqa: N818 - not an error either
    """Ctrl-C or SIGTERM during a command; Typer would replace the KeyboardInterrupt by a bare code."""

    def __init__(self, interrupt: KeyboardInterrupt) -> None:
        super().__init__(interrupt)
        self.interrupt = interrupt


def print_error(message: object) -> None:
    """Print an error, or a text, to standard error, as one line."""
    print(f"manifill: {' '.join(in_command_words(message).split())}", file=sys.stderr)


class Console:
    """Prints notes, unless ``quiet``, and results: as text, or as JSON if ``as_json``."""

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet = quiet
        self.as_json = as_json

    def note(self, text: str) -> None:
        """Print a line about the progress of the command to standard error."""
        if not self.quiet:
            print(f"manifill: {' '.join(in_command_words(text).split())}", file=sys.stderr, flush=True)

    def result(self, text: str, fields: dict[str, Any]) -> None:
        """Print the result to standard output: the text, or the fields as one JSON object."""
        if self.as_json:
            print(json.dumps(fields, default=_as_plain))
        else:
            print(text)


def _as_plain(value: Any) -> Any:
    """Return a NumPy number as a Python number, which JSON can hold, and a date, which is a label, as text."""
    kind = getattr(value, "dtype", None)
    return str(value) if kind is None or kind.kind in "mM" else value.item()
