"""Loops over row and column effects, which only rows and columns with cells have.

``rows`` are the rows (or columns) that the effects belong to.
"""

import numpy as np

from manifill.base.arrays import IntVector, Matrix, Vector
from manifill.base.jit import compiled_internal

__all__ = [
    "add_combination",
    "effects_gradient",
    "placed_effects",
    "project_effects",
    "subtract_projection",
    "write_levels",
    "write_scaled",
]


@compiled_internal
def write_levels(mean: float, effects: Vector, rows: IntVector, out: Vector) -> None:
    """Write mean + effect of each row (or column) with cells to ``out``, which is of all."""
    for i in range(effects.size):
        out[rows[i]] = mean + effects[i]


@compiled_internal
def placed_effects(effects: Vector, rows: IntVector, size: int) -> Vector:
    """Return the effects of all ``size`` rows (or columns); those without cells have 0."""
    out = np.zeros(size)
    write_levels(0.0, effects, rows, out)
    return out


@compiled_internal
def write_scaled(effects: Vector, factor: float) -> None:
    """Multiply all effects by a factor, in place."""
    for i in range(effects.size):
        effects[i] *= factor


@compiled_internal
def project_effects(U: Matrix, effects: Vector, out: Vector) -> None:
    """Write Uᵀ effects, (r,), to ``out``; ``effects`` are of all rows."""
    out[:] = 0.0
    for i in range(U.shape[0]):
        for c in range(U.shape[1]):
            out[c] += U[i, c] * effects[i]


@compiled_internal
def subtract_projection(U: Matrix, inside: Vector, effects: Vector) -> None:
    """Subtract U · inside from the effects of all rows, in place."""
    add_combination(U, np.arange(effects.size), inside, -1.0, effects)


@compiled_internal
def add_combination(U: Matrix, rows: IntVector, d: Vector, factor: float, effects: Vector) -> None:
    """Add factor · U d to the effects, in place."""
    for i in range(effects.size):
        total = 0.0
        for c in range(U.shape[1]):
            total += U[rows[i], c] * d[c]
        effects[i] += factor * total


@compiled_internal
def effects_gradient(
    slopes: Vector, rows: IntVector, scale: float, effects: Vector, prior_slope: float, out: Vector
) -> float:
    """Write scale · slope + prior_slope · effect of each row (or column), and return the sum of scale · slope."""
    total = 0.0
    for i in range(effects.size):
        slope = slopes[rows[i]]
        out[i] = scale * slope + prior_slope * effects[i]
        total += slope
    return scale * total
