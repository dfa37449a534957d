"""Compilation of kernels before the chains of a fit start, in parallel processes.

Otherwise every chain would compile the same kernels one after the other, the last of them in the middle of sampling.  A
marker file in the cache folder records that all kernels of a sampler are cached.
"""

from collections.abc import Callable
from typing import Any

import numba

from manifill.base.kernel_cache import cache_marker
from manifill.base.progress import Listener
from manifill.sampling.plan import Plan
from manifill.sampling.sampler import Kernel
from manifill.sampling.shared_value import Shared
from manifill.sampling.workers import Death, Workers

__all__ = ["compile_ahead"]

SECONDS = 45.0  # a guess of the time that all kernels take


def compile_ahead(
    plan: Shared[Plan], workers: Workers, listener: Listener, is_stopped: Callable[[], bool], then: float
) -> None:
    """Compile the kernels of a plan's sampler into the disk cache, unless they are cached or there is no cache.

    ``then`` is a guess of the seconds that the chains take afterwards.
    """
    kernels = plan.read().build().kernels()
    names = [kernel.function.py_func.__qualname__ for kernel in kernels]
    # By name too: the gradient of many cells and that of few have the same signature.
    marker = cache_marker([f"{name}{_signature(kernel)}" for name, kernel in zip(names, kernels, strict=True)])
    if not kernels or marker is None or marker.exists():
        return
    listener.note(f"compiling {len(names)} kernels; this happens once and takes a minute or two")
    listener.begin("compiling", len(names), "kernels", SECONDS, then)
    listener.advance(0.0, names[0])
    waiting = list(names)
    for index, result in workers.results(_compile, [(plan, k) for k in range(len(names))], _ignore):
        if isinstance(result, Death):
            raise ChildProcessError(f"the process that compiled {names[index]} was {result.cause}; fit again.")
        waiting.remove(names[index])
        listener.advance(1.0, waiting[0] if waiting else "")
        if is_stopped():
            return
    marker.touch()


def _ignore(index: int, death: Death, again: bool) -> None:
    """Say nothing of a process that died, since its kernel is compiled again."""


def _compile(plan: Shared[Plan], index: int) -> None:
    kernel = plan.read().build().kernels()[index]
    kernel.function.compile(_signature(kernel))


def _signature(kernel: Kernel) -> tuple[Any, ...]:
    return tuple(numba.typeof(argument) for argument in kernel.arguments)
