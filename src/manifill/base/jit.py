"""The package's interface to Numba: three decorators, compiled methods, and function pointers.

Compiled code is written as plain functions and as methods of ``NamedTuple`` classes.  Such a class is a value that both
Python and compiled code understand, so ``manifold.move(position, velocity, step)`` reads the same on both sides, and
compiled callers are specialised for the class they are given.  If a function is called through its *address*
instead, its callers are compiled once for all functions of one signature, and do not contain its code.  Samplers call
likelihoods, log densities and manifolds that way.  (Numba's first-class functions would also work, but passing a value
that holds one to compiled code takes 0.3 ms.)

Two features here use undocumented parts of Numba, since there is no documented alternative:

* ``address_of`` returns the address of the C wrapper that Numba generates for a compiled function.  ``numba.cfunc``
  would compile the function a second time, on import of its module, and without this cache.
* ``compiled_method`` registers typing and lowering templates.  ``overload_method`` would do the same through a wrapper
  function, which doubles the compilation time of the method.
"""

import zlib
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import scipy.linalg.cython_blas  # noqa: F401 - the BLAS of compiled code, loaded now so that thread limits reach it
from llvmlite import ir
from numba.core.imputils import impl_ret_new_ref
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_builtin

from manifill.base.kernel_cache import PACKAGE, cache_for

types: Any = numba.core.types

__all__ = [
    "address_of",
    "caller",
    "compiled",
    "compiled_internal",
    "compiled_method",
    "compiled_type_key",
    "strictly_compiled",
    "type_key",
]

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered and products fused, but NaN and infinity are respected: divergences produce them.
#
# A loop that accumulates a sum must not write to an array.  LLVM vectorises such a loop only if the arrays are far
# apart in memory (a few hundred bytes suffice), so the order of the sum, and its last digit, would depend on where the
# allocator put them; a resumed chain would differ from one that was never stopped (tests/kernels/test_addresses.py).
FAST_MATH = {"reassoc", "contract", "arcp", "nsz"}
STRICT_MATH = {"contract"}
OPTIONS = {"nogil": True, "error_model": "numpy"}
WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: Function) -> Function:
    """Compile a function with the package's flags: no GIL, C division, sums that may be reordered, cached on disk."""
    return _compile(function, FAST_MATH)


def strictly_compiled(function: Function) -> Function:
    """Compile an internal function without reordering its sums, if it relies on the cancellation of rounding errors."""
    return _compile(function, STRICT_MATH, **WITHOUT_WRAPPERS)


def compiled_internal(function: Function) -> Function:
    """Compile a function that only compiled code calls, which a test checks.

    Without wrappers for calls from Python and through addresses it compiles in half the time.
    """
    return _compile(function, FAST_MATH, **WITHOUT_WRAPPERS)


def _compile(function: Function, flags: set[str], **wrappers: bool) -> Function:
    dispatcher: Any = numba.njit(fastmath=flags, **OPTIONS, **wrappers)(function)
    dispatcher._cache = cache_for(function)
    return dispatcher  # type: ignore[no-any-return]


def address_of(function: Any, *arguments: Any) -> int:
    """Compile a function for the types of these arguments, and return its address for a ``caller``.

    The address is valid only in this process, so values that hold one must not be sent to another.
    """
    signature = tuple(numba.typeof(argument) for argument in arguments)
    function.compile(signature)
    result = function.overloads[signature]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


def type_key(first: Any, second: Any) -> int:
    """Return a number that identifies the Numba types of two values; compiled code uses ``compiled_type_key``."""
    return _key(numba.typeof(first), numba.typeof(second))


def _key(*kinds: Any) -> int:
    return zlib.crc32(repr([str(kind) for kind in kinds]).encode())


@intrinsic  # type: ignore[untyped-decorator]
def compiled_type_key(typing_context: Any, first: Any, second: Any) -> Any:
    """Return the same number in compiled code, as a compile-time constant."""
    key = _key(first, second)

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return context.get_constant(types.int64, key)

    return types.int64(first, second), lower


def caller(result: Any) -> Any:
    """Return a function for compiled code: ``call(address, *arguments)`` calls what ``address_of`` compiled.

    The arguments must have exactly the types that the function was compiled for; this is not checked.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def call(typing_context: Any, address: Any, *arguments: Any) -> Any:
        kinds = types.StarArgTuple.from_types(arguments)

        def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            parts = [builder.extract_value(values[1], k) for k in range(len(kinds))]
            function = ir.FunctionType(context.get_value_type(result), [context.get_value_type(kind) for kind in kinds])
            return builder.call(builder.inttoptr(values[0], function.as_pointer()), parts)

        return result(types.intp, kinds), lower

    return call


_methods: set[str] = set()


def compiled_method(name: str) -> None:
    """Let compiled code call ``value.name(...)`` on any named tuple whose class has a compiled function ``name``."""
    if name in _methods:
        return
    _methods.add(name)

    class MethodTemplate(AbstractTemplate):  # type: ignore[misc]
        key = f"{PACKAGE}.{name}"
        this: Any

        def generic(self, args: Any, kws: Any) -> Any:
            dispatcher: Any = types.Dispatcher(getattr(self.this.instance_class, name))
            return dispatcher.get_call_type(self.context, (self.this, *args), kws).as_method()

    class NamedTupleMethod(AttributeTemplate):  # type: ignore[misc]
        key = types.BaseNamedTuple

        def generic_resolve(self, value: Any, attribute: str) -> Any:
            if attribute == name and name not in value.fields and hasattr(value.instance_class, name):
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
