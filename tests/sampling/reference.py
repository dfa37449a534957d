"""The no-U-turn sampler as Hoffman and Gelman print it: a recursion, in plain Python and SciPy.

It draws random numbers in the order of the compiled one: the velocity, then for every doubling the direction, a number
a leaf, and one for the choice between the halves.  The chosen leaf of a subtree is kept as a reservoir: each new leaf
replaces it with the share that it has of the weight so far.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import expm

from manifill.geometry import Manifold, Stiefel
from manifill.sampling.leapfrog import Target
from manifill.types import Generator, Vector

DIVERGENCE = 1000.0


@dataclass
class Point:
    """A position and its velocity."""

    x: Vector
    v: Vector


@dataclass
class Reservoir:
    """The leaves of one subtree as they come."""

    log_weight: float = -np.inf
    chosen: Vector | None = None
    acceptance: float = 0.0
    steps: int = 0


@dataclass
class Reference:
    """A recursive transition on ``manifold``."""

    manifold: Manifold
    target: Target
    step_size: float
    max_depth: int
    rng: Generator
    energy: float = field(default=0.0, init=False)

    def transition(self, x: Vector) -> tuple[Vector, int, int, bool, float]:
        """Return the next position, steps, depth, divergence and mean acceptance."""
        v = self.project(x, self.rng.standard_normal(len(x)))
        ends = [Point(x, v), Point(x, v)]
        self.energy = self.energy_of(ends[0])
        log_weight, acceptance, steps, depth, stop, diverged = 0.0, 0.0, 0, 0, False, False
        while depth < self.max_depth and not stop:
            forward = self.rng.random() < 0.5
            leaves = Reservoir()
            _, last, turned, diverged = self.build(ends[int(forward)], depth, forward, leaves)
            ends[int(forward)] = last
            depth, steps, acceptance = depth + 1, steps + leaves.steps, acceptance + leaves.acceptance
            stop = turned or diverged
            if not stop:
                if self.rng.random() < np.exp(min(0.0, leaves.log_weight - log_weight)):
                    x = leaves.chosen
                log_weight = np.logaddexp(log_weight, leaves.log_weight)
                stop = self.has_turned(*ends)
        return x, steps, depth, diverged, acceptance / steps

    def build(self, start: Point, depth: int, forward: bool, leaves: Reservoir) -> tuple[Point, Point, bool, bool]:
        """Add 2^depth leaves beyond ``start``; return the first, the last, and whether the tree turned or diverged."""
        if depth == 0:
            point = self.leapfrog(start, self.step_size if forward else -self.step_size)
            return point, point, False, self.visit(point, leaves)
        first, middle, turned, diverged = self.build(start, depth - 1, forward, leaves)
        if turned or diverged:
            return first, middle, turned, diverged
        _, last, turned, diverged = self.build(middle, depth - 1, forward, leaves)
        if turned or diverged:
            return first, last, turned, diverged
        return first, last, self.has_turned(first, last) if forward else self.has_turned(last, first), False

    def visit(self, point: Point, leaves: Reservoir) -> bool:
        """Take a leaf into the reservoir, or say that it diverged."""
        leaves.steps += 1
        change = self.energy_of(point) - self.energy
        if np.isnan(change) or change >= DIVERGENCE:
            return True
        leaves.acceptance += min(1.0, np.exp(-change))
        leaves.log_weight = np.logaddexp(leaves.log_weight, -change)
        if self.rng.random() < np.exp(-change - leaves.log_weight):
            leaves.chosen = point.x
        return False

    def leapfrog(self, point: Point, step_size: float) -> Point:
        half_kicked = point.v + 0.5 * step_size * self.gradient(point.x)
        x, v = self.geodesic(point.x, half_kicked, step_size)
        return Point(x, v + 0.5 * step_size * self.gradient(x))

    def energy_of(self, point: Point) -> float:
        return 0.5 * float(point.v @ point.v) - self.target.log_density_gradient(point.x, np.empty_like(point.x))

    def gradient(self, x: Vector) -> Vector:
        gradient = np.empty_like(x)
        self.target.log_density_gradient(x, gradient)
        return self.project(x, gradient)

    def has_turned(self, first: Point, last: Point) -> bool:
        chord = last.x - first.x
        return bool(chord @ first.v <= 0.0 or chord @ last.v <= 0.0)

    def project(self, x: Vector, vector: Vector) -> Vector:
        if not isinstance(self.manifold, Stiefel):
            return vector
        X, Z = (part.reshape(self.manifold.rows, -1) for part in (x, vector))
        return (Z - 0.5 * X @ (X.T @ Z + Z.T @ X)).ravel()

    def geodesic(self, x: Vector, v: Vector, time: float) -> tuple[Vector, Vector]:
        if not isinstance(self.manifold, Stiefel):
            return x + time * v, v
        X, W = (part.reshape(self.manifold.rows, -1) for part in (x, v))
        A, S, identity = X.T @ W, W.T @ W, np.eye(X.shape[1])
        flow = np.hstack([X, W]) @ expm(time * np.block([[A, -S], [identity, A]]))
        rotation = expm(-time * A)
        return (flow[:, : X.shape[1]] @ rotation).ravel(), (flow[:, X.shape[1] :] @ rotation).ravel()
