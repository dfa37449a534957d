"""Loops over flat vectors, whose length grows with the number of rows and columns."""

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import compiled_internal

__all__ = [
    "add_scaled",
    "copy_vector",
    "divide_by_roots",
    "divide_entries",
    "fill_standard_normal",
    "half_square",
    "has_turned_in_space",
    "weighted_half_square",
]


@compiled_internal
def add_scaled(vector: Vector, factor: float, direction: Vector) -> None:
    """Add factor · direction to ``vector`` in place."""
    for k in range(vector.size):
        vector[k] += factor * direction[k]


@compiled_internal
def copy_vector(source: Vector, out: Vector) -> None:
    """Copy ``source`` to ``out``."""
    for k in range(source.size):
        out[k] = source[k]


@compiled_internal
def divide_entries(vector: Vector, divisors: Vector) -> None:
    """Divide each entry by its divisor, in place."""
    for k in range(vector.size):
        vector[k] /= divisors[k]


@compiled_internal
def divide_by_roots(vector: Vector, squares: Vector) -> None:
    """Divide each entry by the square root of another, in place."""
    for k in range(vector.size):
        vector[k] /= np.sqrt(squares[k])


@compiled_internal
def fill_standard_normal(rng: Generator, vector: Vector) -> None:
    """Fill ``vector`` with independent standard normal numbers."""
    for k in range(vector.size):
        vector[k] = rng.standard_normal()


@compiled_internal
def half_square(vector: Vector) -> float:
    """Return ½‖vector‖²."""
    total = 0.0
    for k in range(vector.size):
        total += vector[k] * vector[k]
    return 0.5 * total


@compiled_internal
def weighted_half_square(vector: Vector, weights: Vector) -> float:
    """Return ½ Σ w_k vector_k²."""
    total = 0.0
    for k in range(vector.size):
        total += weights[k] * vector[k] * vector[k]
    return 0.5 * total


@compiled_internal
def has_turned_in_space(first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> bool:
    """Hoffman and Gelman's rule in the embedding space: ⟨last − first, velocity⟩ ≤ 0 at either end."""
    at_first = 0.0
    at_last = 0.0
    for k in range(first.size):
        difference = last[k] - first[k]
        at_first += difference * first_velocity[k]
        at_last += difference * last_velocity[k]
    return at_first <= 0.0 or at_last <= 0.0
