"""Slice sampling: known densities on the line and the circle, and densities that are not numbers."""

from typing import NamedTuple

import numpy as np
import pytest

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import compiled
from manifill.sampling.slice_sampling import draw_on_circle, draw_on_line


class Bell(NamedTuple):
    """A normal density on the line, or the von Mises density on the circle, of a state that is at ``here``."""

    mean: float
    precision: float
    round: bool
    here: float

    @compiled
    def log_density_at(self, t: float) -> float:
        distance = self.here + t - self.mean
        if self.round:
            return float(self.precision * np.cos(distance))
        return -0.5 * self.precision * distance * distance


def chain(rng: Generator, bell: Bell, draws: int) -> Vector:
    draw, states = draw_on_circle if bell.round else draw_on_line, []
    for _ in range(draws):
        bell = bell._replace(here=bell.here + draw(rng, bell))
        states.append(bell.here)
    return np.array(states)


def z_of(values: Vector, expected: float) -> float:
    batches = values.reshape(100, -1).mean(axis=1)
    return float((batches.mean() - expected) / (batches.std(ddof=1) / 10.0))


@pytest.mark.parametrize("sd", [0.05, 1.0, 8.0])
def test_a_normal_density_narrower_and_wider_than_the_first_bracket(sd: float) -> None:
    """Mean and variance beyond 4.5 errors (t, 99 degrees of freedom): a false-alarm rate of 1.2e-4 in all."""
    states = chain(np.random.default_rng(1), Bell(0.3, sd**-2, False, 0.3), 20_000)
    assert abs(z_of(states, 0.3)) < 4.5
    assert abs(z_of((states - 0.3) ** 2, sd**2)) < 4.5


@pytest.mark.parametrize(("precision", "mean_cosine"), [(0.0, 0.0), (1.0, 0.44639), (50.0, 0.98995)])
def test_a_circle(precision: float, mean_cosine: float) -> None:
    """The mean of the cosine is I₁/I₀; of the sine, 0: a false-alarm rate of 1.2e-4 in all."""
    states = chain(np.random.default_rng(2), Bell(0.3, precision, True, 0.3), 20_000)
    assert abs(z_of(np.cos(states - 0.3), mean_cosine)) < 4.5
    assert abs(z_of(np.sin(states - 0.3), 0.0)) < 4.5


@pytest.mark.parametrize("round", [False, True])
def test_where_the_density_is_not_a_number_the_state_stays(round: bool) -> None:
    assert set(chain(np.random.default_rng(3), Bell(0.0, np.nan, round, 0.5), 10)) == {0.5}
