"""Slice sampling: known densities on the line and the circle, and densities that are not numbers."""

from typing import NamedTuple

import numpy as np
import pytest

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import compiled
from manifill.sampling.slice_sampling import draw_on_circle, draw_on_line

TURN = 2.0 * np.pi


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


class Counted(NamedTuple):
    """The von Mises density around the present state; it counts its evaluations."""

    precision: float
    evaluations: Vector

    @compiled
    def log_density_at(self, t: float) -> float:
        self.evaluations[0] += 1.0
        return float(self.precision * np.cos(t))


def chain(rng: Generator, bell: Bell, draws: int, width: float = TURN) -> Vector:
    states = []
    for _ in range(draws):
        t = draw_on_circle(rng, bell, width) if bell.round else draw_on_line(rng, bell)
        bell = bell._replace(here=bell.here + t)
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


@pytest.mark.parametrize("width", [0.5, 3.0, TURN, 100.0])
@pytest.mark.parametrize(("precision", "mean_cosine"), [(0.0, 0.0), (1.0, 0.44639), (50.0, 0.98995)])
def test_a_circle(precision: float, mean_cosine: float, width: float) -> None:
    """The mean of the cosine is I₁/I₀; of the sine, 0: a false-alarm rate of 5e-4 in all."""
    states = chain(np.random.default_rng(2), Bell(0.3, precision, True, 0.3), 20_000, width)
    assert abs(z_of(np.cos(states - 0.3), mean_cosine)) < 4.5
    assert abs(z_of(np.sin(states - 0.3), 0.0)) < 4.5


def test_a_bracket_as_wide_as_the_density_saves_evaluations() -> None:
    """A density with a standard deviation of 1e-5 on the circle."""
    counts = []
    for width in (TURN, 8e-5):
        rng, density = np.random.default_rng(4), Counted(1e10, np.zeros(1))
        for _ in range(200):
            assert abs(draw_on_circle(rng, density, width)) < width
        counts.append(density.evaluations[0] / 200)
    assert counts[0] > 20.0
    assert counts[1] < 6.0


@pytest.mark.parametrize("round", [False, True])
def test_where_the_density_is_not_a_number_the_state_stays(round: bool) -> None:
    assert set(chain(np.random.default_rng(3), Bell(0.0, np.nan, round, 0.5), 10)) == {0.5}
