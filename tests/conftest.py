"""What every test shares."""

import signal
from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits

import manifill.base.jit  # noqa: F401 - loads the BLAS of compiled code, which the limit must find


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread() -> Iterator[None]:
    """Threads only get in each other's way on matrices of this size."""
    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True)
def _own_signal_handlers() -> Iterator[None]:
    """Restore what Ctrl-C does, since a command that a test calls in this process sets it for its own."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
