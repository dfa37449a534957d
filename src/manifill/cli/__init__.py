"""The command line: ``manifill fit``, ``predict``, ``complete``, ``top``, ``report``, ``diagnose``, ``demo``.

One module per command; ``app`` puts them together.  The modules import at their top only what ``--help`` needs; a
command imports the rest when it runs, so that help and errors in the arguments appear at once.
"""

import os
import signal
import sys

__all__ = ["Terminated", "main"]

TYPE_CHECKING = False  # as in typing, whose import every command would have to wait for

if TYPE_CHECKING:
    from types import FrameType

IMPORT_SYSTEM = "<frozen importlib._bootstrap>"


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as Ctrl-C does, with another exit code."""


def main() -> None:
    """Run the command that the arguments name and exit with its code.

    The imports are inside, so that Ctrl-C while they run is handled as well: one line, and exit code 130.
    """
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        from manifill.cli.app import run

        code = run()
        for number in (signal.SIGINT, signal.SIGTERM):  # all is done: from now on they would only disturb the exit
            signal.signal(number, signal.SIG_IGN)
    except KeyboardInterrupt as interrupt:
        _leave(interrupt)
    sys.exit(code)


def _interrupt(number: int, frame: "FrameType | None") -> None:
    _raise(KeyboardInterrupt("interrupted"), frame)


def _terminate(number: int, frame: "FrameType | None") -> None:
    _raise(Terminated("terminated"), frame)


def _raise(interrupt: KeyboardInterrupt, frame: "FrameType | None") -> None:
    """Raise an interrupt; in the middle of an import, leave at once.

    Libraries do not expect an exception there: some catch it, and some replace it by an ImportError.  Nothing is open
    yet that would have to be closed.
    """
    while frame is not None:
        if frame.f_code.co_filename == IMPORT_SYSTEM:
            _leave(interrupt)
        frame = frame.f_back
    raise interrupt


def _leave(interrupt: KeyboardInterrupt) -> None:
    """Print one line and exit.

    Not by sys.exit: if the interrupt came inside exec(), which dataclasses call when they are imported, Python would
    end with the signal instead of the code; and a second Ctrl-C must not print a traceback.
    """
    print(f"manifill: {str(interrupt) or 'interrupted'}", file=sys.stderr, flush=True)
    os._exit(143 if isinstance(interrupt, Terminated) else 130)
