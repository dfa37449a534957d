"""Custom likelihoods, which run in the same compiled kernels as the built-in ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from manifill.base.arrays import Array, Generator, Vector
from manifill.base.jit import compiled
from manifill.likelihoods.likelihood import (
    Chunk,
    CompiledLikelihood,
    Evaluation,
    Likelihood,
    Parameters,
    compile_cell_function,
)

__all__ = ["CustomLikelihood", "custom_likelihood"]

Scalar = Callable[[float, float], float]


@dataclass(frozen=True, eq=False)
class CustomLikelihood(Likelihood):
    """A likelihood from functions; its log density is complete but for what ``log_density`` leaves out."""

    name: str  # type: ignore[misc] # an instance has its own
    log_density: Scalar
    derivative: Scalar
    mean_function: Callable[[Array], Array] | None
    variance_function: Callable[[Array], Array] | None
    sample_function: Callable[[Generator, Array], Array] | None
    starting_point_function: Callable[[Vector], Vector] | None

    @property
    def description(self) -> str:  # type: ignore[override] # an instance has its own
        return self.name

    @staticmethod
    def evaluate_cells(chunk: Chunk, out: Evaluation) -> None:
        raise NotImplementedError("each custom likelihood compiles its own function")

    def compiled(self, parameters: Parameters | None = None) -> CompiledLikelihood:
        loop = compile_cell_function(_cell_loop(self.log_density, self.derivative))
        return CompiledLikelihood(loop, np.empty(0), np.empty(0))

    def normalizer(self, encoded: Vector) -> Vector:
        return np.zeros(encoded.size)

    def starting_point(self, encoded: Vector) -> Vector:
        given = self.starting_point_function
        return encoded if given is None else np.asarray(given(encoded), dtype=np.float64)

    def mean(self, x: Array) -> Array:
        return self._missing("mean") if self.mean_function is None else self.mean_function(x)

    def variance(self, x: Array, parameters: Parameters) -> Array:
        return self._missing("variance") if self.variance_function is None else self.variance_function(x)

    def sample(self, rng: Generator, x: Array, parameters: Parameters) -> Array:
        return self._missing("sample") if self.sample_function is None else self.sample_function(rng, x)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name}

    def _missing(self, what: str) -> NoReturn:
        raise ValueError(
            f"the likelihood {self.name!r} cannot predict without `{what}`; pass {what}= to custom_likelihood."
        )


_cell_loops: dict[tuple[Scalar, Scalar], Any] = {}


def _cell_loop(log_density: Scalar, derivative: Scalar) -> Any:
    """Return the loop over cells of a custom likelihood, one for each pair of functions, so that it compiles once."""
    key = log_density, derivative
    if key not in _cell_loops:
        density, slope = _compiled(log_density), _compiled(derivative)

        def evaluate_cells(chunk: Chunk, out: Evaluation) -> None:
            y, x = chunk.y, chunk.x
            for k in range(x.size):
                out.log_density[k] = density(y[k], x[k])
                out.slopes[k] = slope(y[k], x[k])

        evaluate_cells.__module__ = log_density.__module__  # outside the package: it is not cached on disk
        _cell_loops[key] = evaluate_cells
    return _cell_loops[key]


def _compiled(function: Any) -> Any:
    """Compile a Python function; a function that is compiled already is used as it is."""
    return function if hasattr(function, "py_func") else compiled(function)


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
        Its name in messages and files.
    log_density, derivative
        The log density of y given x, up to terms free of x, and its derivative in x.  They are compiled by Numba, so
        they may use arithmetic, ``math`` and ``numpy`` scalars, and numbers from their closure.
    mean, variance, sample
        E[y | x], Var[y | x] and a draw of y given x, on whole arrays.  They are needed to predict, not to fit.
    starting_point
        An x for each value at which a chain may start; x = y by default.

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
    return CustomLikelihood(name, log_density, derivative, mean, variance, sample, starting_point)
