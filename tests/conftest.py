"""What every test shares."""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits

import manifill.base.jit  # noqa: F401 - loads the BLAS of compiled code, which the limit must find


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread() -> Iterator[None]:
    """Threads only get in each other's way on matrices of this size."""
    with threadpool_limits(1):
        yield
