"""Reports of progress: the phases of a fit with their counts, and short notes.

Code that works reports here, wherever it is: a phase that begins, a step that is done.  A *listener* receives the
reports: the display of the process that owns the terminal, or the row of a chain on the progress board.  Without a
listener, as by default and in every new thread, reports are dropped.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, Protocol, TypeVar

__all__ = [
    "NOBODY",
    "Estimate",
    "Listener",
    "Row",
    "advance",
    "announce",
    "begin",
    "counted",
    "expect",
    "followed_by",
    "listener",
    "listening",
]

Item = TypeVar("Item")

logger = logging.getLogger("manifill")
logger.addHandler(logging.NullHandler())  # records are shown by the display, or as the program configures logging


class Row(NamedTuple):
    """The progress of one of several things that go on at the same time, such as chains."""

    name: str
    doing: str
    amount: str  # how much of it is done, or for how long it has been done
    done: float = 0.0  # of what all rows do, for a bar
    total: float | None = None
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

    def expect(self, more: float) -> None:
        """Note that there is this much more to do in the phase than was said, or less if it is negative."""

    def watch(self, rows: Watch) -> None:
        """Show the rows in place of the count of the phase, until the next phase begins."""

    def note(self, text: str) -> None:
        """Show a sentence to the user."""


class _Nobody:
    def begin(self, phase: str, total: float | None, unit: str, guess: float, then: float) -> None:
        """Do nothing."""

    def advance(self, amount: float, doing: str) -> None:
        """Do nothing."""

    def expect(self, more: float) -> None:
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


class _Followed:
    """Passes reports on, and adds the seconds of what follows to each phase that begins."""

    def __init__(self, to: Listener, seconds: float) -> None:
        self._seconds = seconds
        self._begin = to.begin
        self.advance, self.expect, self.watch, self.note = to.advance, to.expect, to.watch, to.note

    def begin(self, phase: str, total: float | None, unit: str, guess: float, then: float) -> None:
        self._begin(phase, total, unit, guess, then + self._seconds)


@contextmanager
def followed_by(seconds: float) -> Iterator[None]:
    """Add a guess of what follows the block to the estimates of its phases, which know only of themselves."""
    with listening(_Followed(listener(), seconds) if listener() is not NOBODY else NOBODY):
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


def expect(more: float) -> None:
    """Report that there is this much more to do in the present phase than was said, or less if it is negative."""
    listener().expect(more)


def counted(items: Iterable[Item], phase: str, total: float, unit: str, guess: float = 0.0) -> Iterator[Item]:
    """Yield the items, as a phase that counts them; the parameters are those of ``begin``."""
    begin(phase, total, unit, guess)
    for item in items:
        yield item
        advance()


def announce(text: str) -> None:
    """Say something once to the user: in the log, and in the display if there is one."""
    logger.info(text)
    listener().note(text)
