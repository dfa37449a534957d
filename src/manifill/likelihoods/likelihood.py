"""What the rest of the package asks of a likelihood: how an observation y arises from the matrix at its cell, x.

One file owns all facts of a likelihood.  Compiled code asks it for one function over a chunk of cells, called through a
pointer, so that samplers are compiled once for all likelihoods.  Everything else is plain NumPy.

A likelihood *with noise* is a location family with a precision γ = 1/σ²: its function returns the log density at unit
noise, and the sampler multiplies by γ (:mod:`manifill.likelihoods.noise`).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numba import types

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Array, Generator, Matrix, Vector
from manifill.base.jit import address_of, caller, compiled, compiled_internal, compiled_method
from manifill.base.variables import Variable

__all__ = [
    "Chunk",
    "CompiledLikelihood",
    "Evaluation",
    "Likelihood",
    "Parameters",
    "compile_cell_function",
    "evaluate_values",
]

# What a draw holds of the likelihood's own parameters, by name: a number for all cells asked for, or one per cell.
Parameters: TypeAlias = Mapping[str, Array | float]


class Chunk(NamedTuple):
    """Some cells, one entry per cell.  What else a likelihood may need to know of a cell becomes a field here."""

    y: Vector  # the value, encoded
    x: Vector  # the matrix
    constants: Vector  # of the likelihood, the same for all cells
    coordinates: Vector  # (k,), what of the likelihood is sampled along with the matrix


class Evaluation(NamedTuple):
    """What a likelihood writes, one entry per cell; derivatives in coordinates are a row for each of them."""

    log_density: Vector
    slopes: Vector  # derivatives in x
    coordinate_slopes: Matrix  # (k, cells or more)


class CompiledLikelihood(NamedTuple):
    """A likelihood as compiled code sees it; its type is the same for all likelihoods."""

    address: int  # of a function (chunk, evaluation) -> None
    constants: Vector
    coordinates: Vector

    @compiled_internal
    def evaluate(self, y: Vector, x: Vector, out: Evaluation) -> float:
        """Write log p(y | x) and its derivatives for each cell, and return the sum of the first."""
        _call(self.address, Chunk(y, x, self.constants, self.coordinates), out)
        total = 0.0
        for k in range(x.size):
            total += out.log_density[k]
        return total


_call = caller(types.void)
compiled_method("evaluate")


@cache
def compile_cell_function(function: Any) -> int:
    """Compile a function of a chunk and its evaluation, and return its address."""
    vector, matrix = np.empty(0), np.empty((0, 0))
    return address_of(compiled(function), Chunk(*[vector] * 4), Evaluation(vector, vector, matrix))


@compiled
def evaluate_values(likelihood: CompiledLikelihood, y: Vector, x: Vector, out: Evaluation) -> None:
    """Write log p(y | x) and its derivatives for each cell; for callers in Python."""
    likelihood.evaluate(y, x, out)


class Likelihood(ABC):
    """A frozen dataclass of constants; facts that most likelihoods share have defaults here."""

    name: ClassVar[str]  # in the registry, in files and on the command line
    description: ClassVar[str]  # a few words for the report
    parameter_names: ClassVar[tuple[str, ...]] = ()  # the variables of a draw that ``variance`` and ``sample`` need
    coordinates: ClassVar[int] = 0  # numbers to be sampled along with the matrix, standard normal under the prior
    has_noise: ClassVar[bool] = False  # whether a precision γ multiplies the log density
    is_scale_family: ClassVar[bool] = False  # whether y/c has a likelihood of the same kind, so columns may be scaled
    is_conjugate: ClassVar[bool] = False  # whether y is normal about x, so conditionals of the factors are normal

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> "Likelihood":
        """Return the likelihood that a user's arguments describe; those not given are None."""
        for name, value in arguments.items():
            if value is not None:
                raise ValueError(
                    Wording(Argument(name), " has no meaning for ", Argument("likelihood", cls.name), "; leave it out.")
                )
        return cls()

    @staticmethod
    @abstractmethod
    def evaluate_cells(chunk: Chunk, out: Evaluation) -> None:
        """Write log p(y | x) at unit noise, up to constants, and its derivatives (compiled).

        It must not sum them: see the rule on sums in ``base/jit.py``.
        """

    @property
    def constants(self) -> Vector:
        """What ``evaluate_cells`` finds in ``chunk.constants``."""
        return np.empty(0)

    def compiled(self, parameters: Parameters | None = None) -> CompiledLikelihood:
        """Return what compiled code needs, at the parameters of a draw or in the middle of their prior."""
        coordinates = np.zeros(self.coordinates) if parameters is None else self.coordinates_of(parameters)
        return CompiledLikelihood(compile_cell_function(self.evaluate_cells), self.constants, coordinates)

    def evaluate(self, y: float, x: float) -> tuple[float, float]:
        """Return log p(y | x) of one encoded value at unit noise, up to constants, and its derivative in x."""
        out = Evaluation(np.empty(1), np.empty(1), np.empty((self.coordinates, 1)))
        evaluate_values(self.compiled(), np.array([y]), np.array([x]), out)
        return float(out.log_density[0]), float(out.slopes[0])

    def coordinate_variables(self) -> tuple[Variable, ...]:
        """Return what a draw holds of the coordinates."""
        return ()

    def coordinate_values(self, coordinates: Vector) -> dict[str, Array]:
        """Return the variables of ``coordinate_variables``, in the units that people read."""
        return {}

    def coordinates_of(self, parameters: Parameters) -> Vector:
        """Undo ``coordinate_values``."""
        return np.empty(0)

    def encode(self, values: Vector) -> Vector:
        """Return the values in the units of ``evaluate_cells``, or raise a ValueError for one that cannot occur."""
        return values

    def decode(self, encoded: Vector) -> Vector:
        """Return encoded values as ``sample`` returns them, to the last digit."""
        return encoded

    @abstractmethod
    def normalizer(self, encoded: Vector) -> Vector:
        """Return the terms of log p(y | x) at unit noise that ``evaluate_cells`` leaves out, (k,)."""

    def at_noise(self, unit: Vector, parameters: Parameters) -> Vector:
        """Return log densities at the noise of a draw from those at unit noise, (k,)."""
        return unit

    def check_data(self, values: Vector) -> None:  # noqa: B027 - most likelihoods take any finite values
        """Raise a ValueError if the data as a whole cannot be modelled."""

    @abstractmethod
    def starting_point(self, encoded: Vector) -> Vector:
        """Return a finite x for each encoded value that gives about that value: where a chain may start."""

    @abstractmethod
    def mean(self, x: Array) -> Array:
        """Return E[y | x], in the data's units."""

    @abstractmethod
    def variance(self, x: Array, parameters: Parameters) -> Array:
        """Return Var[y | x], in the data's units squared."""

    @abstractmethod
    def sample(self, rng: Generator, x: Array, parameters: Parameters) -> Array:
        """Draw y given x, in the data's units."""

    def to_json(self) -> dict[str, Any]:
        """Return the name and the constants; the registry reads them back."""
        return {"name": self.name, **{field.name: getattr(self, field.name) for field in fields(self)}}  # type: ignore[arg-type]
