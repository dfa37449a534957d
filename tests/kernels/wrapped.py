"""Internal kernels for tests in Python."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def wrapped(kernel: Function) -> Function:
    """Return an internal kernel, compiled with the same options, that Python can call."""
    dispatcher: Any = kernel
    options = dispatcher.targetoptions | {"no_cpython_wrapper": False, "no_cfunc_wrapper": False}
    return numba.jit(**options)(dispatcher.py_func)  # type: ignore[no-any-return]
