"""Steps that are too long: refused, or taken only where the way back is the same."""

import numpy as np
import pytest

from manifill.base.arrays import Vector
from manifill.geometry import ScaledStiefel
from tests.geometry.manifolds import (
    AnyManifold,
    is_taken,
    moved,
    on_each_step,
    random_state,
    scaled_stiefel,
    unit_stiefel,
)


@on_each_step
def test_a_step_that_is_far_too_long_is_refused(manifold: AnyManifold) -> None:
    """The trajectory then counts as divergent."""
    assert not is_taken(manifold, *random_state(np.random.default_rng(7), manifold), 30.0)


@pytest.mark.parametrize("broken", [np.nan, np.inf, 1e200])
@on_each_step
def test_a_broken_velocity_is_refused(manifold: AnyManifold, broken: float) -> None:
    position, velocity = random_state(np.random.default_rng(8), manifold)
    velocity[0] = broken
    assert not is_taken(manifold, position, velocity, 0.1)


def long_steps(manifold: ScaledStiefel) -> Vector:
    """Return how far a step and its way back end from the start, or NaN where the way back is refused."""
    rng, errors = np.random.default_rng(9), []
    for _ in range(3000):
        (position, velocity), time = random_state(rng, manifold), rng.uniform(0.3, 3.0)
        end, end_velocity = moved(manifold, position, velocity, time)
        if np.isfinite(end).all():
            back, back_velocity = moved(manifold, end, -end_velocity, time)
            errors.append(max(np.abs(back - position).max(), np.abs(back_velocity + velocity).max()))
    assert 100 < len(errors) < 3000, "neither all are taken nor all refused"
    return np.array(errors)


@pytest.mark.parametrize("shape", [(3, 2), (3, 3), (5, 2), (6, 6), (40, 7)])
def test_a_long_step_returns_or_is_refused(shape: tuple[int, int]) -> None:
    assert long_steps(scaled_stiefel(*shape)).max() < 1e-7


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (6, 6)])
def test_a_long_step_never_returns_elsewhere_on_square_manifolds_with_equal_masses(shape: tuple[int, int]) -> None:
    """Velocities are X times a skew matrix there, and the iteration has directions that only rounding errors excite.

    So a few in a hundred of such long steps are taken one way and refused the other.
    """
    errors = long_steps(unit_stiefel(*shape))
    assert np.isnan(errors).mean() < 0.05
    assert np.nanmax(errors) < 1e-7
