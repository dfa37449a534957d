"""Zarr without its threads: it runs every operation in another one, and to switch takes more time than to read."""

import asyncio
import atexit
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import zarr.core.sync
import zarr.storage

__all__ = ["zarr_in_this_thread"]


@contextmanager
def zarr_in_this_thread() -> Iterator[None]:
    """Let Zarr work in the thread that calls it."""
    original = zarr.core.sync.sync
    for module in _users():
        module.sync = _sync
    try:
        with patch("asyncio.to_thread", _at_once):
            yield
    finally:
        for module in _users():
            module.sync = original


@cache
def _users() -> list[Any]:
    """Return the modules that have imported the function by which Zarr waits for its thread."""
    modules = [module for name, module in sys.modules.items() if name.startswith("zarr.")]
    return [module for module in modules if getattr(module, "sync", None) is zarr.core.sync.sync]


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    atexit.register(loop.close)
    return loop


def _sync(work: Coroutine[Any, Any, Any], *_: Any, **__: Any) -> Any:
    return _loop().run_until_complete(work)


async def _at_once(function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
    return function(*arguments, **options)
