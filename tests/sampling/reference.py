"""The no-U-turn sampler as Hoffman and Gelman print it: a recursion, in plain Python and NumPy.

It draws random numbers in the order of the compiled one: the velocity, then for every doubling the direction, a number
a leaf, and one for the choice between the halves.  The chosen leaf of a subtree is kept as a reservoir: each new leaf
replaces it with the share that it has of the weight so far.
"""

from dataclasses import dataclass, field

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.sampling.integrators import Integrator, Leapfrog, TwoStage
from manifill.sampling.system import Target
from tests.sampling.spaces import Space

DIVERGENCE = 1000.0

# Kicks and moves in turn, in steps.  The root is that of McLachlan's two stages.
_ROOT = (2.0 * np.sqrt(326.0) + 36.0) ** (1.0 / 3.0)
_OUTER = float(0.5 - _ROOT / 12.0 + 1.0 / (6.0 * _ROOT))
STAGES: dict[Integrator, tuple[tuple[float, ...], tuple[float, ...]]] = {
    Leapfrog(): ((0.5, 0.5), (1.0,)),
    TwoStage(): ((_OUTER, 1.0 - 2.0 * _OUTER, _OUTER), (0.5, 0.5)),
}


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
    """A recursive transition in a space."""

    space: Space
    target: Target
    integrator: Integrator
    step_size: float
    max_depth: int
    rng: Generator
    energy: float = field(default=0.0, init=False)

    def transition(self, x: Vector) -> tuple[Vector, int, int, bool, float]:
        """Return the next position, steps, depth, divergence and mean acceptance."""
        v = self.space.velocity(x, self.space.normal(self.rng, len(x)))
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
                    assert leaves.chosen is not None
                    x = leaves.chosen
                log_weight = np.logaddexp(log_weight, leaves.log_weight)
                stop = self.has_turned(ends[0], ends[1])
        return x, steps, depth, diverged, acceptance / steps

    def build(self, start: Point, depth: int, forward: bool, leaves: Reservoir) -> tuple[Point, Point, bool, bool]:
        """Add 2^depth leaves beyond ``start``; return the first, the last, and whether the tree turned or diverged."""
        if depth == 0:
            point = self.step(start, self.step_size if forward else -self.step_size)
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

    def step(self, point: Point, step_size: float) -> Point:
        (first, *kicks), moves = STAGES[self.integrator]
        x, v = point.x, point.v + first * step_size * self.acceleration(point.x)
        for kick, move in zip(kicks, moves, strict=True):
            x, v = self.space.move(x, v, move * step_size)
            v = v + kick * step_size * self.acceleration(x)
        return Point(x, v)

    def energy_of(self, point: Point) -> float:
        log_density = self.target.log_density_gradient(point.x, np.empty_like(point.x))
        return self.space.kinetic_energy(point.v) - log_density

    def acceleration(self, x: Vector) -> Vector:
        gradient = np.empty_like(x)
        self.target.log_density_gradient(x, gradient)
        return self.space.acceleration(x, gradient)

    def has_turned(self, first: Point, last: Point) -> bool:
        return bool((self.space.turning(first.x, first.v, last.x, last.v) <= 0.0).any())
