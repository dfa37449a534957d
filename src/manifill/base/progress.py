"""Reports of progress: the phases of a fit with their counts, and short notes.

Code that works reports here, wherever it is: a phase that begins, a step that is done.  A *listener* receives the
reports: the display of the process that owns the terminal, or the row of a chain on the progress board.  Without a
listener, as by default and in every new thread, reports are dropped.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, Protocol

__all__ = [
    "NOBODY",
    "Estimate",
    "Listener",
    "Row",
    "advance",
    "announce",
    "before_others",
    "begin",
    "listener",
    "listening",
]

logger = logging.getLogger("manifill")
logger.addHandler(logging.NullHandler())  # records are shown by the display, or as the program configures logging


class Row(NamedTuple):
    """The progress of one of several things that go on at the same time, such as chains."""

    name: str
    doing: str
    done: float
    total: float | None  # None: only what is being done is known
    detail: str = ""


class Estimate(NamedTuple):
    """The time until a fit ends, in seconds, and whether it follows from what was measured or is a first guess."""

    seconds: float
    measured: bool
    at_most: bool = False  # whether the fit may well end earlier, depending on its results


# Returns the present rows, and the estimate for the whole fit, if there is one; called again and again by a display.
Watch = Callable[[], tuple[Sequence[Row], Estimate | None]]


class Listener(Protocol):
    """Receives reports of progress."""

    def begin(self, phase: str, total: float | None, unit: str, guess: float, then: float) -> None:
        """Note that a phase begins, which ends the one before; the parameters are those of ``begin``."""

    def advance(self, amount: float, doing: str) -> None:
        """Note that this much more of the phase is done, and what is being done now."""

    def watch(self, rows: Watch) -> None:
        """Show the rows in place of the count of the phase, until the next phase begins."""

    def note(self, text: str) -> None:
        """Show a sentence to the user."""


class _Nobody:
    def begin(self, phase: str, total: float | None, unit: str, guess: float, then: float) -> None:
        """Do nothing."""

    def advance(self, amount: float, doing: str) -> None:
        """Do nothing."""

    def watch(self, rows: Watch) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""


NOBODY: Listener = _Nobody()

_listener: ContextVar[Listener] = ContextVar("listener", default=NOBODY)


def listener() -> Listener:
    """Return the present listener, for code that reports from another thread."""
    return _listener.get()


@contextmanager
def listening(to: Listener) -> Iterator[None]:
    """Send the reports of the block to a listener."""
    token = _listener.set(to)
    try:
        yield
    finally:
        _listener.reset(token)


class _Preceding(NamedTuple):
    """Passes reports on, with the time that later phases take."""

    listener: Listener
    seconds: float

    def begin(self, phase: str, total: float | None, unit: str, guess: float, then: float) -> None:
        self.listener.begin(phase, total, unit, guess, then + self.seconds)

    def advance(self, amount: float, doing: str) -> None:
        self.listener.advance(amount, doing)

    def watch(self, rows: Watch) -> None:
        self.listener.watch(rows)

    def note(self, text: str) -> None:
        self.listener.note(text)


@contextmanager
def before_others(seconds: float) -> Iterator[None]:
    """Add the time of what follows the block to the estimates of its phases, which do not know of it."""
    with listening(_Preceding(listener(), seconds)):
        yield


def begin(phase: str, total: float | None = None, unit: str = "", guess: float = 0.0, then: float = 0.0) -> None:
    """Report that a phase begins.

    ``total`` says how much is to be done in this phase, in which unit, if that is known.  ``guess`` and ``then`` are
    guesses of the seconds that this phase takes, and those after it; without them the estimate of the time left
    follows from the count alone.
    """
    listener().begin(phase, total, unit, guess, then)


def advance(amount: float = 1.0, doing: str = "") -> None:
    """Report that more of the present phase is done, and what is being done now."""
    listener().advance(amount, doing)


def announce(text: str) -> None:
    """Say something once to the user: in the log, and in the display if there is one."""
    logger.info(text)
    listener().note(text)
