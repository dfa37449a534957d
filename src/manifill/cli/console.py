"""Output of the commands, and their exit codes.

Results go to standard output, as text or as one JSON object; notes and errors go to standard error.
"""

import json
import logging
import sys
from enum import IntEnum
from typing import Any

__all__ = ["CommandExit", "Console", "ExitCode", "Interrupted", "print_error"]


class ExitCode(IntEnum):
    """What the shell sees when a command ends."""

    SUCCESS = 0
    USER_ERROR = 2  # wrong arguments, or data that cannot be used
    NOT_CONVERGED = 3
    INTERRUPTED = 130  # 128 + SIGINT, as shells have it


class CommandExit(Exception):  # noqa: N818 - the regular end of a command, not an error
    """Ends a command with an exit code; all output has been printed."""

    def __init__(self, code: ExitCode) -> None:
        super().__init__(code)
        self.code = code


class Interrupted(Exception):  # noqa: N818 - not an error either
    """Ctrl-C during a command, with the message of the KeyboardInterrupt; Typer would replace that by a bare code."""


def print_error(message: str) -> None:
    """Print an error to standard error, as one line."""
    print(f"manifill: {' '.join(message.split())}", file=sys.stderr)


class Console:
    """Prints notes, unless ``quiet``, and results: as text, or as JSON if ``as_json``."""

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet = quiet
        self.as_json = as_json

    def note(self, text: str) -> None:
        """Print a line about the progress of the command to standard error."""
        if not self.quiet:
            print(f"manifill: {text}", file=sys.stderr, flush=True)

    def show_log(self, logger: str) -> None:
        """Print the records of a logger as notes."""
        logging.getLogger(logger).handlers = [_NoteHandler(self)]
        logging.getLogger(logger).setLevel(logging.INFO)

    def result(self, text: str, fields: dict[str, Any]) -> None:
        """Print the result to standard output: the text, or the fields as one JSON object."""
        if self.as_json:
            print(json.dumps(fields, default=_as_python_number))
        else:
            print(text)


class _NoteHandler(logging.Handler):
    """Prints log records as notes."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.INFO)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.note(record.getMessage())


def _as_python_number(value: Any) -> Any:
    """Return a NumPy number as a Python number, which JSON can hold."""
    return value.item()
