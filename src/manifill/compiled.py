"""Numba as this package uses it: one decorator, methods that compile, and a disk cache that cannot go stale.

Compiled code is written as plain functions and as methods of ``NamedTuple`` classes.  Such a class is a value that
both Python and compiled code understand, so ``manifold.move(position, velocity, step)`` reads the same on both sides;
compiled callers are specialised for the class they are given, and nothing is passed around as a function pointer.

Numba's own cache notices a change of a function's file, but not of the files it calls into.  Here every cached
function carries a stamp of all files with compiled code instead, and a signature that names a class from outside the
package (a user's likelihood) is compiled afresh in each process, since its source cannot be watched.  Of processes
that miss the same function at the same time, as chains of one fit do, one compiles it and the others wait for it.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numba
import scipy.linalg.cython_blas  # noqa: F401 - the BLAS of compiled code, loaded now so that thread limits reach it
from numba.core.caching import FunctionCache, NullCache
from numba.core.event import Listener, register
from numba.core.imputils import impl_ret_new_ref
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate
from numba.extending import infer_getattr, lower_builtin

from manifill.turns import Turns

types: Any = numba.core.types

__all__ = ["compiled", "compiled_method", "on_compilation", "strictly_compiled"]

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = __name__.partition(".")[0]

# Sums may be reordered and products fused, but NaN and infinity keep their meaning: a divergence shows as one of them.
FAST_MATH = {"reassoc", "contract", "arcp", "nsz"}
STRICT_MATH = {"contract"}


# The folders with compiled code, and with constants that it may freeze.
WATCHED = ("geometry", "posterior", "problem", "sampling")


def _source_stamp() -> str:
    """Return a hash of every source file that compiled code may come from."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(path for folder in WATCHED for path in Path(__file__).with_name(folder).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


_STAMP = _source_stamp()
_listeners: list[Callable[[], None]] = []


@contextmanager
def on_compilation(listener: Callable[[], None]) -> Iterator[None]:
    """Call ``listener`` whenever something is not found in the disk cache and must be compiled."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _turns_file() -> Path | None:
    """Return the file through which processes with the same cache take turns."""
    try:
        return Path(FunctionCache(_source_stamp).cache_path) / "manifill-turns.lock"
    except RuntimeError:  # there is no cache
        return None


_turns = Turns(_turns_file())


def _classes(kind: Any) -> Iterator[type]:
    """Yield the Python class of every named tuple inside a Numba type."""
    if isinstance(kind, types.BaseNamedTuple):
        yield kind.instance_class
    for part in getattr(kind, "types", ()):
        yield from _classes(part)


def _is_cacheable(signature: tuple[Any, ...]) -> bool:
    classes = (cls for kind in signature for cls in _classes(kind))
    return all(cls.__module__.partition(".")[0] == PACKAGE for cls in classes)


def _task(function: Callable[..., Any], signature: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}{signature}"


class _PackageCache(FunctionCache):  # type: ignore[misc]
    """Numba's function cache, stamped with all of the package's sources and closed to foreign classes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # As a part of the version the stamp is read before the rest, which may name modules that are no longer there.
        self._cache_file._version += _STAMP

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        cacheable = _is_cacheable(sig)
        found = super().load_overload(sig, target_context) if cacheable else None
        if found is None:
            for listener in _listeners:
                listener()
            if cacheable and _turns.take(_task(self._py_func, sig)):
                found = super().load_overload(sig, target_context)  # made by another process meanwhile?
                if found is not None:
                    _turns.give_back(_task(self._py_func, sig))
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        if _is_cacheable(sig):
            try:
                super().save_overload(sig, data)
            finally:
                _turns.give_back(_task(self._py_func, sig))


class _EndOfTurn(Listener):  # type: ignore[misc]
    """Gives a turn back whose function could not be compiled, and so will not be saved."""

    def on_start(self, event: Any) -> None:
        """Nothing has gone wrong yet."""

    def on_end(self, event: Any) -> None:
        dispatcher, signature = event.data["dispatcher"], tuple(event.data["args"])
        if signature not in dispatcher.overloads:  # Numba's ``is_failed`` says the opposite of its name
            _turns.give_back(_task(dispatcher.py_func, signature))


register("numba:compile", _EndOfTurn())


def _cache_for(function: Callable[..., Any]) -> FunctionCache | NullCache:
    try:
        return _PackageCache(function)
    except RuntimeError:  # neither the package's nor the user's folder can be written
        return NullCache()


def compiled(function: Function) -> Function:
    """Compile a function with the package's flags: no GIL, C division, sums that may be reordered, cached on disk."""
    return _compile(function, FAST_MATH)


def strictly_compiled(function: Function) -> Function:
    """Compile a function whose sums must stay in their order, since its rounding errors are meant to cancel."""
    return _compile(function, STRICT_MATH)


def _compile(function: Function, flags: set[str]) -> Function:
    dispatcher: Any = numba.njit(nogil=True, error_model="numpy", fastmath=flags)(function)
    if function.__module__.partition(".")[0] == PACKAGE:
        dispatcher._cache = _cache_for(function)
    return dispatcher  # type: ignore[no-any-return]


def compiled_method(name: str) -> None:
    """Let compiled code call ``value.name(...)`` on any named tuple whose class has a compiled function ``name``.

    Numba's ``overload_method`` would do the same through a wrapper function, whose compilation costs as much again as
    that of the method; this asks the method's own dispatcher, as Numba does for its ``jitclass``.
    """

    class MethodTemplate(AbstractTemplate):  # type: ignore[misc]
        key = f"{PACKAGE}.{name}"
        this: Any

        def generic(self, args: Any, kws: Any) -> Any:
            dispatcher: Any = types.Dispatcher(getattr(self.this.instance_class, name))
            return dispatcher.get_call_type(self.context, (self.this, *args), kws).as_method()

    class NamedTupleMethod(AttributeTemplate):  # type: ignore[misc]
        key = types.BaseNamedTuple

        def generic_resolve(self, value: Any, attribute: str) -> Any:
            if attribute == name and hasattr(value.instance_class, name):
                return types.BoundFunction(MethodTemplate, value)
            return None

    infer_getattr(NamedTupleMethod)

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        dispatcher = types.Dispatcher(getattr(signature.args[0].instance_class, name))
        call = context.get_function(dispatcher, signature)
        result = call(builder, arguments)
        for library in getattr(call, "libs", ()):
            context.add_linking_libs((library,))
        return impl_ret_new_ref(context, builder, signature.return_type, result)

    lower_builtin(MethodTemplate.key, types.BaseNamedTuple, types.VarArg(types.Any))(lower)
