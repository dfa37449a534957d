"""Interrupts that wait while kernels run in the main thread.

Whenever a compiled function is called with a random generator, Numba calls Python code for the addresses of the
generator's functions, and does not check whether that has raised an exception.  Python handles signals in the main
thread only, between any two steps of Python code.  So if Ctrl-C comes at such a moment, the process crashes.
"""

import inspect
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["waiting_interrupts"]

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)

Handler = Callable[[int, FrameType | None], Any]


@contextmanager
def waiting_interrupts() -> Iterator[Callable[[], None]]:
    """Let Ctrl-C and SIGTERM wait in the block until it calls the function that it is given, or until it ends.

    That function calls the handlers from before the block, most of which raise a KeyboardInterrupt.  In other threads
    than the main one it does nothing.
    """
    handlers, waiting = _handlers(), list[int]()

    def let_through() -> None:
        while waiting and _is_main_thread():
            number = waiting.pop(0)
            handlers[number](number, inspect.currentframe())

    try:
        for number in handlers:
            signal.signal(number, lambda number, frame: waiting.append(number))
        yield let_through
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        let_through()


def _handlers() -> dict[int, Handler]:
    """Return the present handlers that are functions, by signal; none in other threads than the main one.

    A signal without one is ignored, or ends the process at once.
    """
    if not _is_main_thread():
        return {}
    found = {number: signal.getsignal(number) for number in INTERRUPTS}
    return {number: handler for number, handler in found.items() if callable(handler)}


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
