"""The turning test: do the two ends of a trajectory still move apart?"""

import numpy as np
import pytest

from manifill.geometry import Euclidean, Stiefel
from tests.geometry.manifolds import moved, on_each_geodesic, random_state


def test_by_hand() -> None:
    plane = Euclidean(2)
    first, last = np.array([0.0, 0.0]), np.array([1.0, 0.0])
    ahead, back, aside = np.array([1.0, 0.5]), np.array([-1.0, 0.5]), np.array([0.0, 1.0])
    assert not plane.has_turned(first, ahead, last, ahead)
    assert plane.has_turned(first, back, last, ahead)
    assert plane.has_turned(first, ahead, last, back)
    assert plane.has_turned(first, ahead, last, aside), "standing still counts as turning"


@pytest.mark.parametrize(("angle", "expected"), [(0.1, False), (3.1, False), (3.2, True), (6.2, True)])
def test_on_the_circle(angle: float, expected: bool) -> None:
    """On a great circle the chord grows until half a turn."""
    circle = Stiefel.of_shape(2, 1)
    first, velocity = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert circle.has_turned(first, velocity, *moved(circle, first, velocity, angle)) == expected


@on_each_geodesic
def test_is_symmetric_under_reversal_and_changes_nothing(manifold: Euclidean | Stiefel) -> None:
    """The rule must not depend on which end came first: seen backwards, the ends swap and the velocities turn."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        point, velocity = random_state(rng, manifold)
        ends = (point, velocity, *moved(manifold, point, velocity, rng.uniform(0.0, 6.0)))
        kept = [part.copy() for part in ends]
        forward = manifold.has_turned(*ends)
        assert forward == manifold.has_turned(ends[2], -ends[3], ends[0], -ends[1])
        assert all(np.array_equal(part, copy) for part, copy in zip(ends, kept, strict=True))
