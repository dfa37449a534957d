"""Loops over row and column effects."""

from manifill.base.arrays import Matrix, Vector
from manifill.base.jit import compiled_internal

__all__ = [
    "add_combination",
    "effects_gradient",
    "project_effects",
    "subtract_projection",
    "weighted_sums",
    "write_levels",
    "write_scaled",
]


@compiled_internal
def write_levels(mean: float, effects: Vector, out: Vector) -> None:
    """Write mean + effect of each row (or column) to ``out``."""
    for i in range(effects.size):
        out[i] = mean + effects[i]


@compiled_internal
def write_scaled(effects: Vector, factor: float) -> None:
    """Multiply all effects by a factor, in place."""
    for i in range(effects.size):
        effects[i] *= factor


@compiled_internal
def project_effects(U: Matrix, effects: Vector, out: Vector) -> None:
    """Write Uᵀ effects, (r,), to ``out``."""
    out[:] = 0.0
    for i in range(U.shape[0]):
        for c in range(U.shape[1]):
            out[c] += U[i, c] * effects[i]


@compiled_internal
def subtract_projection(U: Matrix, inside: Vector, effects: Vector) -> None:
    """Subtract U · inside from the effects, in place."""
    add_combination(U, inside, -1.0, effects)


@compiled_internal
def add_combination(U: Matrix, d: Vector, factor: float, effects: Vector) -> None:
    """Add factor · U d to the effects, in place."""
    for i in range(U.shape[0]):
        total = 0.0
        for c in range(U.shape[1]):
            total += U[i, c] * d[c]
        effects[i] += factor * total


@compiled_internal
def effects_gradient(slopes: Vector, scale: float, effects: Vector, prior_slope: float, out: Vector) -> float:
    """Write scale · slope + prior_slope · effect of each row (or column), and return the sum of scale · slope."""
    for i in range(effects.size):
        out[i] = scale * slopes[i] + prior_slope * effects[i]
    total = 0.0
    for i in range(slopes.size):
        total += slopes[i]
    return scale * total


@compiled_internal
def weighted_sums(
    weights: Vector, change: Vector, common_change: float, speed: Vector, common_speed: float
) -> tuple[float, float, float]:
    """Return the weighted sums of change · speed, change, and speed, each with its common part added."""
    both, changes, speeds = 0.0, 0.0, 0.0
    for k in range(weights.size):
        c, v = change[k] + common_change, speed[k] + common_speed
        both += weights[k] * c * v
        changes += weights[k] * c
        speeds += weights[k] * v
    return both, changes, speeds
