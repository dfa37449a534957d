"""Spaces for the reference sampler, in NumPy and SciPy: of the geometry only sizes, masses and normal numbers."""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import expm

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.geometry import Euclidean, LowRank, Stiefel
from manifill.kernels.row_random import draw_key, fill_normal_rows
from tests.geometry.manifolds import AnyManifold, metric
from tests.geometry.matrices import parts, turning
from tests.geometry.rattle import mass_projection, rattle_step


class Space(Protocol):
    """What the recursion asks of a space."""

    def normal(self, rng: Generator, size: int) -> Vector:
        """Return as many standard normal numbers, drawn as the package draws them for a velocity."""

    def velocity(self, x: Vector, normal: Vector) -> Vector:
        """Return a random velocity, made of standard normal numbers."""

    def acceleration(self, x: Vector, gradient: Vector) -> Vector:
        """Return the gradient on the manifold, in its metric."""

    def move(self, x: Vector, v: Vector, time: float) -> tuple[Vector, Vector]:
        """Go on for ``time``."""

    def kinetic_energy(self, v: Vector) -> float:
        """Return half the square of a velocity, by mass."""

    def turning(self, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> Vector:
        """Return the products of chord and velocity at both ends."""


class Flat(NamedTuple):
    """Rⁿ."""

    dimension: int

    def normal(self, rng: Generator, size: int) -> Vector:
        return rng.standard_normal(size)

    def velocity(self, x: Vector, normal: Vector) -> Vector:
        return self.acceleration(x, normal)

    def acceleration(self, x: Vector, gradient: Vector) -> Vector:
        return gradient

    def move(self, x: Vector, v: Vector, time: float) -> tuple[Vector, Vector]:
        return x + time * v, v

    def kinetic_energy(self, v: Vector) -> float:
        return 0.5 * float(v @ v)

    def turning(self, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> Vector:
        return np.array([(last - first) @ first_velocity, (last - first) @ last_velocity])


class Frames(Flat):
    """St(n, r) in n·r dimensions, with the geodesic by SciPy's exponential; ``dimension`` is n."""

    def normal(self, rng: Generator, size: int) -> Vector:
        return normal_rows(rng, self.dimension, size // self.dimension).ravel()

    def acceleration(self, x: Vector, gradient: Vector) -> Vector:
        X, Z = (part.reshape(self.dimension, -1) for part in (x, gradient))
        return (Z - 0.5 * X @ (X.T @ Z + Z.T @ X)).ravel()

    def move(self, x: Vector, v: Vector, time: float) -> tuple[Vector, Vector]:
        X, W = (part.reshape(self.dimension, -1) for part in (x, v))
        A, S, identity = X.T @ W, W.T @ W, np.eye(X.shape[1])
        flow = np.hstack([X, W]) @ expm(time * np.block([[A, -S], [identity, A]]))
        rotation = expm(-time * A)
        return (flow[:, : X.shape[1]] @ rotation).ravel(), (flow[:, X.shape[1] :] @ rotation).ravel()


class Matrices(NamedTuple):
    """Low-rank matrices with effects, by mass."""

    manifold: LowRank

    @property
    def masses(self) -> Vector:
        return metric(self.manifold)

    def normal(self, rng: Generator, size: int) -> Vector:
        m, n, r, rest = *self.manifold.layout[:3], self.manifold.masses.size
        return joined(normal_rows(rng, m, r), normal_rows(rng, n, r), normal_rows(rng, rest, 1))

    def velocity(self, x: Vector, normal: Vector) -> Vector:
        return self.projected(x, normal / np.sqrt(self.masses))

    def acceleration(self, x: Vector, gradient: Vector) -> Vector:
        return self.projected(x, gradient / self.masses)

    def projected(self, x: Vector, vector: Vector) -> Vector:
        (U, V, *_), (dU, dV, *rest) = parts(self.manifold, x), parts(self.manifold, vector)
        left, right = self.manifold.left.masses, self.manifold.right.masses
        return joined(mass_projection(U, dU, left), mass_projection(V, dV, right), *rest)

    def move(self, x: Vector, v: Vector, time: float) -> tuple[Vector, Vector]:
        (U, V, *rest), (dU, dV, *speeds) = parts(self.manifold, x), parts(self.manifold, v)
        ends = rattle_step(U, dU, self.manifold.left.masses, time), rattle_step(V, dV, self.manifold.right.masses, time)
        if ends[0] is None or ends[1] is None:
            return np.full_like(x, np.nan), np.full_like(v, np.nan)
        straight = [part + time * speed for part, speed in zip(rest, speeds, strict=True)]
        return joined(ends[0][0], ends[1][0], *straight), joined(ends[0][1], ends[1][1], *speeds)

    def kinetic_energy(self, v: Vector) -> float:
        return 0.5 * float(self.masses @ v**2)

    def turning(self, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> Vector:
        return turning(self.manifold, first, first_velocity, last, last_velocity)


def normal_rows(rng: Generator, rows: int, columns: int) -> Matrix:
    """Return standard normal numbers that are addressed by row, under a key from the generator."""
    out = np.empty((rows, columns))
    fill_normal_rows(np.uint64(draw_key(rng)), out)
    return out


def joined(*pieces: Vector) -> Vector:
    return np.concatenate([piece.ravel() for piece in pieces])


def space_of(manifold: AnyManifold) -> Space:
    """Return the reference's form of a manifold."""
    if isinstance(manifold, Euclidean):
        return Flat(manifold.dimension)
    if isinstance(manifold, Stiefel):
        return Frames(manifold.rows)
    assert isinstance(manifold, LowRank)
    return Matrices(manifold)
