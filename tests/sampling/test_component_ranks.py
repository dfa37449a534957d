"""Rankings of components: their probabilities, their draws, and the density of a trajectory that has one."""

from itertools import permutations

import numpy as np
import pytest

from manifill.base.arrays import IntVector, Vector
from manifill.geometry import Masses
from manifill.sampling.component_ranks import RankedDensity, draw_ranking, masses_by_rank
from manifill.unknowns import view
from tests.problem.likelihoods import CASES
from tests.sampling.targets import point_with_effects

S, FLOOR = np.array([0.7, -1.1, 0.05]), 0.02


def log_probability(ranking: IntVector, s: Vector) -> float:
    """Return log p(ρ | s) as written: the largest of the remaining ones is drawn again and again."""
    weights, total = (s**2 + FLOOR) ** 3.0, 0.0
    for k in range(s.size):
        total += np.log(weights[ranking[k]] / weights[ranking[k:]].sum())
    return float(total)


def rankings() -> list[IntVector]:
    return [np.array(ranking) for ranking in permutations(range(S.size))]


def test_draws_have_their_probabilities() -> None:
    """|z| above 4.5 by chance: 4e-5 for six rankings."""
    rng, number = np.random.default_rng(1), 20_000
    drawn = [tuple(draw_ranking(rng, S, FLOOR)) for _ in range(number)]
    for ranking in rankings():
        p = np.exp(log_probability(ranking, S))
        assert abs(drawn.count(tuple(ranking)) - number * p) < 4.5 * np.sqrt(number * p * (1.0 - p)) + 1.0


def test_the_density_is_that_of_the_unknowns_times_the_probability_of_the_ranking() -> None:
    density, position = point_with_effects(CASES["gaussian"], list(S))
    plain, excess = density.log_density_gradient(position, np.empty_like(position)), []
    for ranking in rankings():
        ranked = RankedDensity(density, ranking, FLOOR)
        value = ranked.log_density_gradient(position, np.empty_like(position)) - plain
        assert value == pytest.approx(log_probability(ranking, S), abs=1e-9)
        excess.append(np.exp(value))
    assert sum(excess) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("ranking", rankings(), ids=str)
def test_the_gradient_is_the_derivative(ranking: IntVector) -> None:
    density, position = point_with_effects(CASES["gaussian"], list(S))
    ranked, plain, gradient = RankedDensity(density, ranking, FLOOR), np.empty_like(position), np.empty_like(position)
    density.log_density_gradient(position, plain)
    ranked.log_density_gradient(position, gradient)
    expected = np.empty(S.size)
    for k in range(S.size):
        shift = 1e-6 * (np.arange(S.size) == k)
        expected[k] = (log_probability(ranking, S + shift) - log_probability(ranking, S - shift)) / 2e-6
    change = gradient - plain
    np.testing.assert_allclose(view(density.layout, change).s, expected, rtol=1e-6, atol=1e-8)
    view(density.layout, change).s[:] = 0.0
    assert not change.any()


def test_far_apart_components_do_not_overflow() -> None:
    density, position = point_with_effects(CASES["binomial"], [1e20, 1e-60, 0.0])
    gradient = np.empty_like(position)
    ranked = RankedDensity(density, np.array([1, 2, 0]), 1e-130)
    assert np.isfinite(ranked.log_density_gradient(position, gradient))
    assert np.isfinite(gradient).all()


def test_masses_go_to_the_component_of_the_rank() -> None:
    masses = Masses(np.array([3.0, 2.0, 1.0]), np.array([30.0, 20.0, 10.0]), np.array([0.3, 0.2, 0.1, 7.0]))
    left, right, rest = masses_by_rank(masses, np.array([2, 0, 1]))
    assert list(left) == [2.0, 1.0, 3.0]
    assert list(right) == [20.0, 10.0, 30.0]
    assert list(rest) == [0.2, 0.1, 0.3, 7.0], "effects have no rank"
