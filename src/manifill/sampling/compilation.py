"""Compilation of kernels before the chains of a fit start, in parallel processes.

Otherwise every chain would compile the same kernels one after the other.  A marker file in the cache folder records
that all kernels of a sampler are cached.
"""

from collections.abc import Callable
from typing import Any

import joblib
import numba

from manifill.base.jit import cache_marker
from manifill.sampling.sampler import Kernel, Sampler

__all__ = ["compile_ahead"]


def compile_ahead(build: Callable[[], Sampler[Any, Any, Any]], jobs: int, announce: Callable[[], None]) -> None:
    """Compile the kernels of a sampler into the disk cache, unless they are cached; ``announce`` is called first.

    With one process, or without a writable cache, do nothing: each kernel is compiled when it is first called.
    """
    kernels = build().kernels() if jobs > 1 else ()
    marker = cache_marker([str(_signature(kernel)) for kernel in kernels])
    if not kernels or marker is None or marker.exists():
        return
    announce()
    tasks = (joblib.delayed(_compile)(build, index) for index in range(len(kernels)))
    joblib.Parallel(n_jobs=jobs, batch_size=1, mmap_mode="c")(tasks)
    marker.touch()


def _compile(build: Callable[[], Sampler[Any, Any, Any]], index: int) -> None:
    kernel = build().kernels()[index]
    kernel.function.compile(_signature(kernel))


def _signature(kernel: Kernel) -> tuple[Any, ...]:
    return tuple(numba.typeof(argument) for argument in kernel.arguments)
