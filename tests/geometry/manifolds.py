"""The table of manifolds that every conformance test runs over, and what their points must satisfy."""

import numpy as np
import pytest

from manifill.geometry import Euclidean, Manifold, Stiefel
from manifill.types import Generator, Matrix, Vector

# A circle, a sphere, a small one, a square one (two components), a tall one, and one of more than one block of rows.
SHAPES = ((2, 1), (3, 1), (5, 2), (6, 6), (40, 7), (300, 20))
STIEFEL = tuple(Stiefel.of_shape(*shape) for shape in SHAPES)
MANIFOLDS = (*STIEFEL, Euclidean(4))


def _name(manifold: Manifold) -> str:
    if isinstance(manifold, Stiefel):
        return f"St({manifold.rows},{manifold.columns})"
    return f"R^{manifold.dimension}"


on_each_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=_name)
on_each_stiefel = pytest.mark.parametrize("manifold", STIEFEL, ids=_name)
on_small_stiefel = pytest.mark.parametrize("manifold", STIEFEL[:4], ids=_name)


def as_matrix(manifold: Stiefel, flat: Vector) -> Matrix:
    return flat.reshape(manifold.rows, manifold.columns)


def constraint_error(manifold: Manifold, position: Vector) -> float:
    """Return the largest entry of |XᵀX − I|."""
    if isinstance(manifold, Euclidean):
        return 0.0
    X = as_matrix(manifold, position)
    return float(np.abs(X.T @ X - np.eye(manifold.columns)).max())


def tangency_error(manifold: Manifold, position: Vector, vector: Vector) -> float:
    """Return the largest entry of |XᵀZ + ZᵀX|."""
    if isinstance(manifold, Euclidean):
        return 0.0
    inner = as_matrix(manifold, position).T @ as_matrix(manifold, vector)
    return float(np.abs(inner + inner.T).max())


def projected(manifold: Manifold, position: Vector, vector: Vector) -> Vector:
    result = vector.copy()
    manifold.project(position, result)
    return result


def moved(manifold: Manifold, position: Vector, velocity: Vector, time: float) -> tuple[Vector, Vector]:
    end, end_velocity = position.copy(), velocity.copy()
    manifold.move(end, end_velocity, time)
    return end, end_velocity


def random_state(rng: Generator, manifold: Manifold) -> tuple[Vector, Vector]:
    """Return a point and a tangent velocity that turns each column by about a radian in unit time."""
    position = manifold.random_point(rng)
    velocity = np.empty(manifold.dimension)
    manifold.random_velocity(rng, position, velocity)
    rows = manifold.rows if isinstance(manifold, Stiefel) else 1
    return position, velocity / np.sqrt(rows)
