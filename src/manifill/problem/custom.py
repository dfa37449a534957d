"""Likelihoods of the user's own, compiled into the same kernels as the built-in ones."""

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple, NoReturn

import numpy as np

from manifill.compiled import compiled
from manifill.problem.likelihoods import Likelihood
from manifill.types import Array, Generator, Vector

__all__ = ["custom_likelihood"]

Scalar = Callable[[float, float], float]

_numbers = count()


def custom_likelihood(
    name: str,
    log_density: Scalar,
    derivative: Scalar,
    *,
    mean: Callable[[Array], Array] | None = None,
    variance: Callable[[Array], Array] | None = None,
    sample: Callable[[Generator, Array], Array] | None = None,
    starting_point: Callable[[Vector], Vector] | None = None,
) -> Likelihood:
    """Return a likelihood from two scalar functions of (y, x).

    Parameters
    ----------
    name
        What to call it in messages and files.
    log_density, derivative
        The log density of y given x, up to terms free of x, and its derivative in x.  They are compiled by Numba, so
        they may use arithmetic, ``math`` and ``numpy`` scalars, and numbers from around them.
    mean, variance, sample
        E[y | x], Var[y | x] and a draw of y given x, on whole arrays.  They are needed to predict, not to fit.
    starting_point
        An x for each value at which a chain may start; x = y where it is not given.

    Examples
    --------
    >>> from manifill import custom_likelihood
    >>> laplace = custom_likelihood(
    ...     "laplace",
    ...     log_density=lambda y, x: -abs(y - x),
    ...     derivative=lambda y, x: 1.0 if y > x else -1.0,
    ...     mean=lambda x: x,
    ...     variance=lambda x: 0 * x + 2.0,
    ...     sample=lambda rng, x: rng.laplace(x, 1.0),
    ... )
    >>> laplace.evaluate(2.0, 0.5)
    (-1.5, 1.0)
    """
    density, slope = _compile_scalar(log_density), _compile_scalar(derivative)

    @compiled
    def evaluate_pair(self: Any, y: float, x: float) -> tuple[float, float]:
        return density(y, x), slope(y, x)

    def needed(what: str) -> NoReturn:
        raise ValueError(f"the likelihood {name!r} cannot predict without `{what}`; pass {what}= to custom_likelihood.")

    class Custom(NamedTuple):
        has_noise: bool

        @property
        def name(self) -> str:
            return name

        def encode(self, values: Vector) -> Vector:
            return values

        def starting_point(self, encoded: Vector) -> Vector:
            return encoded if starting_point is None else np.asarray(starting_point(encoded), dtype=np.float64)

        def mean(self, x: Array) -> Array:
            return needed("mean") if mean is None else mean(x)

        def variance(self, x: Array, sigma: Array | float) -> Array:
            return needed("variance") if variance is None else variance(x)

        def sample(self, rng: Generator, x: Array, sigma: Array | float) -> Array:
            return needed("sample") if sample is None else sample(rng, x)

    Custom.evaluate = evaluate_pair  # type: ignore[attr-defined]
    Custom.__module__ = "custom"  # outside the package: its compiled code is not cached on disk
    Custom.__name__ = f"Custom{next(_numbers)}"  # Numba tells classes of named tuples apart by their names alone
    return Custom(has_noise=False)  # type: ignore[return-value]


def _compile_scalar(function: Any) -> Any:
    """Compile a Python function; one that Numba has compiled already is taken as it is."""
    return function if hasattr(function, "py_func") else compiled(function)
