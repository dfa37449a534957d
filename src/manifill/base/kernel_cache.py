"""The disk cache of compiled functions.

It is Numba's, next to the package or in the user's cache folder, with two changes that use undocumented parts of Numba:

* Every entry carries a hash of all source files with compiled code.  Numba's own cache detects a change in a function's
  file, but not in the files of the functions that it calls.
* If neither folder is writable, a private folder in the folder for temporary files is used.
"""

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, NullCache

__all__ = ["PACKAGE", "cache_for", "cache_marker", "cache_note", "on_compilation"]

PACKAGE = __name__.partition(".")[0]

# The packages with compiled code, or with constants that are compiled into it.
WATCHED = ("base", "geometry", "kernels", "likelihoods", "posterior", "problem", "sampling", "unknowns")


def _source_stamp() -> str:
    """Return a hash of all source files that may contain compiled code."""
    root, digest = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(path for folder in WATCHED for path in (root / folder).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


_STAMP = _source_stamp()
_listeners: list[Callable[[bool], None]] = []
_compiling: set[Any] = set()  # the caches of the functions whose compilation has begun: one, and what it calls


@contextmanager
def on_compilation(listener: Callable[[bool], None]) -> Iterator[None]:
    """Call ``listener(True)`` when the compilation of a function begins, and ``listener(False)`` when it has ended.

    Functions in the disk cache are not compiled; those that a function calls are part of its compilation.
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


class _PackageCache(FunctionCache):  # type: ignore[misc]
    """Numba's function cache, invalidated by any change in the package's compiled sources."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # As part of the version, the stamp is checked before the rest is unpickled, which may refer to modules that no
        # longer exist.
        self._cache_file._version += _STAMP
        self._cache_file._load_index = partial(_readable_index, self._cache_file._load_index)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None:
            self._report(compiling=True)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig, data)
        self._report(compiling=False)

    def _report(self, *, compiling: bool) -> None:
        before = bool(_compiling)
        (_compiling.add if compiling else _compiling.discard)(self)
        if bool(_compiling) != before:
            for listener in _listeners:
                listener(compiling)


def _readable_index(load: Callable[[], dict[Any, str]]) -> dict[Any, str]:
    """Return the index of a cache, or an empty one if it has types of modules that cannot be imported here.

    A compiled function may have been called with types from another program, such as a script that no longer exists.
    """
    try:
        return load()
    except (AttributeError, ImportError):
        return {}


def cache_for(function: Callable[..., Any]) -> FunctionCache | NullCache:
    """Return the cache of a function of this package; functions of other packages are compiled in each process."""
    if function.__module__.partition(".")[0] != PACKAGE:
        return NullCache()
    try:
        return _PackageCache(function)
    except RuntimeError:  # neither the package's folder nor the user's cache folder is writable
        return _temporary_cache(function)


def _temporary_cache(function: Callable[..., Any]) -> FunctionCache | NullCache:
    folder = _private_folder()
    if folder is None:
        return NullCache()
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        return _PackageCache(function)
    except RuntimeError:
        return NullCache()
    finally:
        numba.config.CACHE_DIR = before


@cache
def _private_folder() -> Path | None:
    """Return a folder for temporary files that nobody else can write to, or None.

    What is loaded from it is executed, so a folder of this name that somebody else has made is not used.
    """
    if not hasattr(os, "getuid"):  # on Windows the folder for temporary files is private
        return Path(tempfile.gettempdir(), "manifill-kernels")
    try:
        folder = Path(tempfile.gettempdir(), f"manifill-kernels-{os.getuid()}")
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    is_private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return folder if is_private else None


def cache_note() -> str | None:
    """Return a sentence about where the cache is, if it is not where it should be."""
    used = cache_for(_source_stamp)
    unwritable = "since neither the folder of the package nor the user's cache folder can be written to"
    if isinstance(used, NullCache):
        return f"the kernels are compiled in every process, {unwritable}; set NUMBA_CACHE_DIR to a folder that can"
    if _private_folder.cache_info().currsize:
        return f"the kernels are cached in {_private_folder()}, {unwritable}; set NUMBA_CACHE_DIR to choose a folder"
    return None


def cache_marker(contents: Sequence[str]) -> Path | None:
    """Return the file whose existence means that the kernels described by ``contents`` are all cached."""
    used = cache_for(_source_stamp)
    if isinstance(used, NullCache):
        return None
    parts = [_STAMP, numba.__version__, sys.version, *contents]
    return Path(used.cache_path) / f"manifill-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}.compiled"
