"""The display of progress: live bars on a terminal, a line of text every few seconds elsewhere.

Logs, pipes and notebooks get lines.  Both displays are redrawn by a thread, since the main thread computes.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from manifill.base.durations import in_words, still_left
from manifill.base.progress import NOBODY, Estimate, Listener, Row, Watch, listener, listening

__all__ = ["displayed", "time_left"]

SECONDS_BETWEEN_UPDATES = 0.2
SECONDS_BETWEEN_LINES = 5.0


class View(NamedTuple):
    """What there is to show at one moment."""

    phase: str
    done: float
    total: float | None
    unit: str
    doing: str
    rows: Sequence[Row]
    left: Estimate | None
    seconds: float  # since the phase began

    @property
    def amount(self) -> str:
        """How much of the phase is done, if that is known, and for how long it has lasted."""
        seconds = in_words(self.seconds)
        return seconds if self.total is None else f"{self.done:.0f} of {self.total:.0f} {self.unit}, {seconds}"


def time_left(estimate: Estimate | None) -> str:
    """Return an estimate in words, empty if there is none."""
    if estimate is None or estimate.seconds <= 0.0:
        return ""
    if estimate.at_most:
        how = "at most" if estimate.measured else "perhaps at most"
    else:
        how = "about" if estimate.measured else "perhaps"
    return f"{how} {in_words(max(estimate.seconds, 1.0))} left"


class _Output(Protocol):
    def show(self, view: View) -> None:
        """Show the present state."""

    def note(self, text: str) -> None:
        """Show a sentence."""


class _Lines:
    """One line of text every few seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def show(self, view: View) -> None:
        if time.monotonic() - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = time.monotonic()
        if view.rows:
            parts = [*(f"{row.name} {row.doing} {row.amount}".rstrip() for row in view.rows), f"after {view.amount}"]
        else:
            parts = [f"{view.phase}: {view.amount}{f' ({view.doing})' if view.doing else ''}"]
        left = time_left(view.left)
        self.note("; ".join(parts) + (f", {left}" if left else ""))

    def note(self, text: str) -> None:
        print(f"manifill: {text}", file=sys.stderr, flush=True)


class _Bars:
    """A bar for the phase, with the time left for the whole fit, and one for each row."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._tasks: list[Any] = [self._add()]

    def _add(self) -> Any:
        return self._bars.add_task("", total=None, visible=False, count="", detail="")

    @property
    def has_rows(self) -> bool:
        return len(self._tasks) > 1

    def show(self, view: View) -> None:
        first, *others = self._tasks
        total = view.total
        done, left = view.done, time_left(view.left)
        if view.rows:  # the bar of the phase is that of all rows together
            known = [row for row in view.rows if row.total is not None]
            done, total = sum(row.done for row in known), sum(row.total or 0.0 for row in known) or None
        detail = ", ".join(part for part in (left, view.doing) if part)  # narrow terminals cut off the end
        self._update(first, view.phase, done, total, view.amount, detail)
        while len(others) < len(view.rows):
            others.append(self._add())
        for task, row in zip(others, view.rows, strict=False):
            self._update(task, f"{row.name} {row.doing}", row.done, row.total, row.amount, row.detail)
        self._tasks = [first, *others]

    def _update(self, task: Any, name: str, done: float, total: float | None, count: str, detail: str) -> None:
        self._bars.tasks[task].total = total  # ``update`` takes None for no change
        self._bars.update(task, description=name, completed=done, visible=True, count=count, detail=detail)

    def note(self, text: str) -> None:
        self._bars.console.print(f"manifill: {text}", markup=False, highlight=False, soft_wrap=True)


class _Display:
    """Receives reports and shows them."""

    def __init__(self, output: _Output, words: Callable[[str], str]) -> None:
        self._output = output
        self._words = words
        self._lock = threading.Lock()
        self._watch: Watch | None = None
        self._begin("", None, "", 0.0, 0.0)

    def begin(self, phase: str, total: float | None, unit: str, guess: float, then: float) -> None:
        with self._lock:
            if self._watch is not None:
                self._output.show(self._view())  # the last state of the rows
            self._begin(phase, total, unit, guess, then)

    def _begin(self, phase: str, total: float | None, unit: str, guess: float, then: float) -> None:
        self._phase, self._total, self._unit, self._guess, self._then = phase, total, unit, guess, then
        self._done, self._doing = 0.0, ""
        self._began = self._advanced = time.monotonic()
        self._watch = None

    def advance(self, amount: float, doing: str) -> None:
        self._done += amount
        self._doing = doing
        if amount:
            self._advanced = time.monotonic()

    def expect(self, more: float) -> None:
        if self._total is not None:
            self._total += more

    def watch(self, rows: Watch) -> None:
        self._watch = rows

    def note(self, text: str) -> None:
        self._output.note(self._words(text))

    def update(self) -> None:
        """Show the present state."""
        with self._lock:
            if self._phase:
                self._output.show(self._view())

    def _view(self) -> View:
        seconds = time.monotonic() - self._began
        rows: Sequence[Row] = ()
        if self._watch is None:
            left = self._left()
        else:
            rows, left = self._watch()
        return View(self._phase, self._done, self._total, self._unit, self._doing, rows, left, seconds)

    def _left(self) -> Estimate | None:
        """Return the estimate from how much of the phase is done, and from the guesses."""
        share = min(self._done / self._total, 1.0) if self._total else 0.0  # totals may be guesses
        expected = (self._advanced - self._began) / share if share else self._guess
        if self._guess:  # counts less and less
            expected = share * expected + (1.0 - share) * self._guess
        if not expected + self._then:
            return None
        rest = still_left((1.0 - share) * expected, time.monotonic() - self._advanced)
        return Estimate(rest + self._then, measured=not self._then)


@contextmanager
def displayed(*, visible: bool, words: Callable[[str], str] = str) -> Iterator[None]:
    """Display the progress that the block reports, or nothing if not ``visible``; a display that is open is used.

    ``words`` writes the arguments in a note.
    """
    if not visible:
        with listening(NOBODY):
            yield
    elif listener() is not NOBODY:
        yield
    else:
        with _output() as output, _updated(_Display(output, words)) as display, listening(display):
            yield


@contextmanager
def _output() -> Iterator[_Output]:
    """Open the output that suits standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal or console.is_jupyter:
        yield _Lines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[count]}"),
        TextColumn("{task.fields[detail]}"),
    )
    with Progress(*columns, console=console) as bars:
        output = _Bars(bars)
        yield output
        bars.live.transient = not output.has_rows  # short work leaves nothing on the screen


@contextmanager
def _updated(display: _Display) -> Iterator[Listener]:
    """Update a display from a thread."""
    ended = threading.Event()

    def update() -> None:
        while not ended.wait(SECONDS_BETWEEN_UPDATES):
            display.update()

    thread = threading.Thread(target=update, daemon=True)
    thread.start()
    try:
        yield display
    finally:
        ended.set()
        thread.join()
        display.update()
