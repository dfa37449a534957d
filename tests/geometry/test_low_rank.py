"""Low-rank matrices: a trajectory turns when the completed matrix does, not when its factors do."""

import numpy as np
import pytest

from manifill.base.arrays import Generator, Vector
from manifill.geometry import LowRank
from tests.geometry.manifolds import moved, on_each_low_rank, plain_low_rank, random_state
from tests.geometry.matrices import turning


def edges(manifold: LowRank, rng: Generator) -> tuple[list[Vector], Vector]:
    """Return the ends of a trajectory that is just about to turn at one of them, and both products there.

    A velocity's part along the chord is taken away but for a hair, and the hair's sign decides.
    """
    (first, velocity), (last, last_velocity) = random_state(rng, manifold), random_state(rng, manifold)
    ends = [first, velocity, last, last_velocity]
    rest = slice(-manifold.masses.size, None)
    for which in (1, 3):
        along = np.zeros_like(first)
        along[rest] = rng.standard_normal(manifold.masses.size)
        trial = [*ends]
        trial[which] = along
        at = which // 2
        slope = turning(manifold, *trial)[at]
        wanted = rng.choice([-1e-9, 1e-9, 1.0])
        ends[which] = ends[which] + along * (wanted - turning(manifold, *ends)[at]) / slope
    return ends, turning(manifold, *ends)


@on_each_low_rank
def test_turning_is_that_of_whole_matrices(manifold: LowRank) -> None:
    """At the edge, where a part in 1e9 decides."""
    rng, seen = np.random.default_rng(1), set()
    for _ in range(300):
        ends, products = edges(manifold, rng)
        expected = bool((products <= 0.0).any())
        assert manifold.has_turned(*ends) == expected, products
        seen.add(tuple(products > 0.0))
    assert len(seen) == 4


@on_each_low_rank
def test_turning_is_symmetric_under_reversal_and_changes_nothing(manifold: LowRank) -> None:
    """The rule must not depend on which end came first: seen backwards, the ends swap and the velocities turn."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        ends = edges(manifold, rng)[0]
        kept = [part.copy() for part in ends]
        forward = manifold.has_turned(*ends)
        assert forward == manifold.has_turned(ends[2], -ends[3], ends[0], -ends[1])
        assert all(np.array_equal(part, copy) for part, copy in zip(ends, kept, strict=True))


@pytest.mark.parametrize(("angle", "expected"), [(0.1, False), (3.1, False), (3.2, True), (6.2, True)])
def test_a_matrix_of_rank_one_turns_with_its_column(angle: float, expected: bool) -> None:
    """With V at rest, X = s u vᵀ goes round a circle as u does."""
    manifold = plain_low_rank(2, 2, 1, effects=False)
    state = np.array([1.0, 0.0, 1.0, 0.0, 0.5]), np.array([0.0, 1.0, 0.0, 0.0, 0.0])
    first = state
    for _ in range(100):
        state = moved(manifold, *state, angle / 100)
    assert manifold.has_turned(*first, *state) == expected
