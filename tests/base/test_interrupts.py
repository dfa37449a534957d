"""Interrupts wait while kernels run, and then do what they would have done."""

import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from manifill.base.interrupts import waiting_interrupts

SIGNALS = (signal.SIGINT, signal.SIGTERM)

Handlers = dict[int, Any]


class EndedError(Exception):
    """Raised by a handler of SIGTERM, as that of the command line raises one."""


@pytest.fixture(autouse=True)
def handlers() -> Iterator[Handlers]:
    """Return the handlers of a program with its own one for SIGTERM."""

    def end(number: int, frame: FrameType | None) -> None:
        assert frame is not None
        raise EndedError

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, end)
    found = present_handlers()
    yield found
    assert present_handlers() == found, "the handlers from before are not restored"


def present_handlers() -> Handlers:
    return {number: signal.getsignal(number) for number in SIGNALS}


def sweeps(*come: int, raising: type[Exception] | None = None, done: list[str] | None = None) -> None:
    """Do two sweeps, in the first of which signals come, and raise an error in the second one."""
    done = [] if done is None else done
    with waiting_interrupts() as let_through:
        let_through()
        for number in come:
            signal.raise_signal(number)
        done.append("first")
        if raising is not None:
            raise raising
        let_through()
        done.append("second")


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, EndedError)])
def test_an_interrupt_waits_until_it_is_let_through(number: int, raised: type[BaseException]) -> None:
    done: list[str] = []
    with pytest.raises(raised):
        sweeps(number, done=done)
    assert done == ["first"]


def test_an_interrupt_is_let_through_at_the_end() -> None:
    with pytest.raises(KeyboardInterrupt), waiting_interrupts():
        signal.raise_signal(signal.SIGINT)


def test_an_error_does_not_hide_the_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        sweeps(signal.SIGINT, raising=ZeroDivisionError)
    assert isinstance(caught.value.__context__, ZeroDivisionError)


def test_all_interrupts_are_handled() -> None:
    with pytest.raises(EndedError) as caught:
        sweeps(signal.SIGINT, signal.SIGTERM)
    assert isinstance(caught.value.__context__, KeyboardInterrupt)


def test_a_handler_need_not_raise_anything() -> None:
    calls: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    with waiting_interrupts() as let_through:
        signal.raise_signal(signal.SIGINT)
        assert not calls
        let_through()
        let_through()
        assert calls == [signal.SIGINT]
    signal.signal(signal.SIGINT, before)


def test_blocks_may_be_nested() -> None:
    done: list[str] = []

    def nested() -> None:
        with waiting_interrupts() as let_through:
            sweeps(signal.SIGINT, done=done)
            let_through()
            done.append("third")

    with pytest.raises(KeyboardInterrupt):
        nested()
    assert done == ["first", "second"]


def test_signals_that_no_function_handles_are_left_alone(handlers: Handlers) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with waiting_interrupts():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    signal.signal(signal.SIGTERM, handlers[signal.SIGTERM])


def in_another_thread(function: Callable[[], Any]) -> Any:
    """Return the result of a function, or the exception that it has raised."""
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(function())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


def test_other_threads_set_no_handlers(handlers: Handlers) -> None:
    def block() -> Handlers:
        with waiting_interrupts() as let_through:
            let_through()
            return present_handlers()

    assert in_another_thread(block) == handlers


def test_an_interrupt_is_raised_in_the_main_thread_only() -> None:
    """A listener to compilation, which lets interrupts through, is called by every thread that compiles a kernel."""

    def block() -> None:
        with waiting_interrupts() as let_through:
            signal.raise_signal(signal.SIGINT)
            assert in_another_thread(let_through) is None

    with pytest.raises(KeyboardInterrupt):
        block()
