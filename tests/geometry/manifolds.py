"""The tables of manifolds that conformance tests run over, and what their points must satisfy."""

from typing import TypeAlias

import numpy as np
import pytest

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.geometry import Euclidean, LowRank, Masses, ScaledStiefel, Stiefel
from manifill.unknowns import Layout

AnyManifold: TypeAlias = Euclidean | Stiefel | ScaledStiefel | LowRank  # all but frames with masses have a U-turn rule

# A circle, a sphere, a small one, a square one (two components), a tall one, and one of more than one block of rows.
SHAPES = ((2, 1), (3, 1), (5, 2), (6, 6), (40, 7), (300, 20))


def scaled_stiefel(rows: int, columns: int) -> ScaledStiefel:
    """Return the manifold with masses from 20 down to ½, but not in order."""
    return ScaledStiefel.with_masses(rows, _masses(columns))


def unit_stiefel(rows: int, columns: int) -> ScaledStiefel:
    """Return the manifold with masses of one."""
    return ScaledStiefel.with_masses(rows, np.ones(columns))


def _masses(columns: int) -> Vector:
    return np.roll(np.geomspace(20.0, 0.5, columns), columns // 2)


def plain_low_rank(rows: int, columns: int, rank: int, *, effects: bool) -> LowRank:
    """Return the manifold with masses of one and equal weights."""
    layout = Layout.whole(rows, columns, rank, effects, 0)
    return LowRank.with_masses(layout, Masses.unit(layout), np.ones(rows), np.ones(columns))


def low_rank(rows: int, columns: int, rank: int, *, effects: bool) -> LowRank:
    """Return the manifold with different masses and weights everywhere; one row has no weight at all."""
    rng, layout = np.random.default_rng(0), Layout.whole(rows, columns, rank, effects, 0)
    masses = Masses(_masses(rank), _masses(rank), rng.uniform(0.5, 4.0, layout.rest_size))
    of_rows, of_columns = np.arange(rows, dtype=np.float64), rng.permutation(np.arange(1.0, columns + 1.0))
    return LowRank.with_masses(layout, masses, of_rows, of_columns)


STIEFEL = tuple(Stiefel.of_shape(*shape) for shape in SHAPES)
GEODESIC = (*STIEFEL, Euclidean(4))
SCALED = tuple(scaled_stiefel(*shape) for shape in SHAPES)
LOW_RANK = (low_rank(5, 4, 2, effects=False), low_rank(3, 2, 2, effects=True), low_rank(20, 30, 3, effects=True))
FRAMES = (*STIEFEL, *SCALED)
MANIFOLDS = (*GEODESIC, *SCALED, *LOW_RANK)


def _name(manifold: AnyManifold) -> str:
    if isinstance(manifold, LowRank):
        sizes = f"{manifold.left.rows}x{manifold.right.rows},{manifold.left.columns}"
        return f"low rank {sizes}{' with effects' if manifold.layout.has_effects else ''}"
    if isinstance(manifold, Euclidean):
        return f"R^{manifold.dimension}"
    return f"{'scaled ' if isinstance(manifold, ScaledStiefel) else ''}St({manifold.rows},{manifold.columns})"


on_each_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=_name)
on_each_geodesic = pytest.mark.parametrize("manifold", GEODESIC, ids=_name)
on_each_step = pytest.mark.parametrize("manifold", [*SCALED, *LOW_RANK], ids=_name)
on_each_scaled = pytest.mark.parametrize("manifold", SCALED, ids=_name)
on_each_low_rank = pytest.mark.parametrize("manifold", LOW_RANK, ids=_name)
on_each_stiefel = pytest.mark.parametrize("manifold", STIEFEL, ids=_name)
on_each_frame = pytest.mark.parametrize("manifold", FRAMES, ids=_name)
on_each_curved = pytest.mark.parametrize("manifold", [*FRAMES, *LOW_RANK], ids=_name)
on_small_ones = pytest.mark.parametrize("manifold", [*STIEFEL[:4], *SCALED[:4], *LOW_RANK[:2]], ids=_name)


def frames(manifold: AnyManifold, flat: Vector) -> list[Matrix]:
    """Return the parts of a flat vector that belong to a Stiefel manifold, in their shapes."""
    if isinstance(manifold, Euclidean):
        return []
    if not isinstance(manifold, LowRank):
        return [flat.reshape(manifold.rows, manifold.columns)]
    u = manifold.left.dimension
    v = u + manifold.right.dimension
    return [*frames(manifold.left, flat[:u]), *frames(manifold.right, flat[u:v])]


def metric(manifold: AnyManifold) -> Vector:
    """Return the mass of every number of a flat vector."""
    if isinstance(manifold, ScaledStiefel):
        return np.tile(manifold.masses, manifold.rows)
    if isinstance(manifold, LowRank):
        return np.concatenate([metric(manifold.left), metric(manifold.right), manifold.masses])
    return np.ones(manifold.dimension)


def as_matrix(manifold: Stiefel | ScaledStiefel, flat: Vector) -> Matrix:
    return flat.reshape(manifold.rows, manifold.columns)


def constraint_error(manifold: AnyManifold, position: Vector) -> float:
    """Return the largest entry of |XᵀX − I|."""
    return max((float(np.abs(X.T @ X - np.eye(X.shape[1])).max()) for X in frames(manifold, position)), default=0.0)


def tangency_error(manifold: AnyManifold, position: Vector, vector: Vector) -> float:
    """Return the largest entry of |XᵀZ + ZᵀX|."""
    pairs = zip(frames(manifold, position), frames(manifold, vector), strict=True)
    return max((float(np.abs(X.T @ Z + Z.T @ X).max()) for X, Z in pairs), default=0.0)


def projected(manifold: AnyManifold, position: Vector, vector: Vector) -> Vector:
    result = vector.copy()
    manifold.project(position, result)
    return result


def accelerated(manifold: AnyManifold, gradient: Vector) -> Vector:
    result = gradient.copy()
    manifold.accelerate(result)
    return result


def moved(manifold: AnyManifold, position: Vector, velocity: Vector, time: float) -> tuple[Vector, Vector]:
    """Return where a step ends, and the tangent part of its velocity there; NaN if the step could not be taken."""
    end, end_velocity = position.copy(), velocity.copy()
    if not manifold.move(end, end_velocity, time):
        return np.full_like(end, np.nan), np.full_like(end, np.nan)
    return end, projected(manifold, end, end_velocity)


def is_taken(manifold: AnyManifold, position: Vector, velocity: Vector, time: float) -> bool:
    """Return whether a step can be taken."""
    return manifold.move(position.copy(), velocity.copy(), time)


def random_state(rng: Generator, manifold: AnyManifold) -> tuple[Vector, Vector]:
    """Return a point and a tangent velocity that turns each column by about a radian in unit time."""
    position = manifold.random_point(rng)
    velocity = np.empty(manifold.dimension)
    manifold.random_velocity(rng, position, velocity)
    for W in frames(manifold, velocity):
        W /= np.sqrt(len(W))
    return position, velocity
