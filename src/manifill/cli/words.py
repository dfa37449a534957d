"""What commands say: to people on standard error, to programs as JSON on standard output; and the exit codes."""

import json
import logging
import sys
from typing import Any

__all__ = ["GOOD", "INTERRUPTED", "MISTAKE", "NOT_CONVERGED", "EndWith", "Voice", "complain"]

GOOD, MISTAKE, NOT_CONVERGED, INTERRUPTED = 0, 2, 3, 130


class EndWith(Exception):  # noqa: N818 - no error, but the end of a command
    """The end of a command with a code; everything has been said."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def complain(message: str) -> None:
    """Say what is wrong, in one line."""
    print(f"manifill: {' '.join(message.split())}", file=sys.stderr)


class Voice:
    """Says things to a person, unless asked to be quiet, and gives results: as text, or if asked as JSON."""

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet = quiet
        self.as_json = as_json

    def say(self, text: str) -> None:
        """Say a sentence."""
        if not self.quiet:
            print(f"manifill: {text}", file=sys.stderr, flush=True)

    def pass_on(self, logger: str) -> None:
        """Say what is logged under a name."""
        logging.getLogger(logger).handlers = [_Saying(self)]
        logging.getLogger(logger).setLevel(logging.INFO)

    def tell(self, text: str, facts: dict[str, Any]) -> None:
        """Give the result: the text, or the facts as one JSON object."""
        if self.as_json:
            print(json.dumps(facts, default=_plain))
        else:
            print(text)


class _Saying(logging.Handler):
    """Hands what is logged to a voice."""

    def __init__(self, voice: Voice) -> None:
        super().__init__(logging.INFO)
        self._voice = voice

    def emit(self, record: logging.LogRecord) -> None:
        self._voice.say(record.getMessage())


def _plain(value: Any) -> Any:
    """Return NumPy's numbers as Python's."""
    return value.item()
