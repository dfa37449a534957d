"""What every test shares."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits

import manifill.base.jit  # noqa: F401 - loads the BLAS of compiled code, which the limit must find


def pytest_configure(config: pytest.Config) -> None:
    """Import ArviZ once before the workers do: two first imports of a day write the same file and may fail."""
    if not hasattr(config, "workerinput") and config.getoption("numprocesses", None):
        subprocess.run([sys.executable, "-W", "ignore", "-c", "import arviz"], capture_output=True, check=False)


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
