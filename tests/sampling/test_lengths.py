"""Lengths learned from trees: their mean, and whether the log density moved."""

import numpy as np
import pytest

from manifill.base.arrays import Vector
from manifill.sampling.trajectory_lengths import SHORT_STEPS, Trees

STEP, MOST = 0.25, 1023


def trees_of(steps: list[int], densities: Vector) -> Trees:
    trees = Trees.none()
    for count, density in zip(steps, densities, strict=True):
        trees = trees.update(STEP * count, float(density))
    return trees


def test_without_trees_there_is_nothing_to_learn() -> None:
    assert Trees.none().final(STEP, MOST) is None


@pytest.mark.parametrize(
    ("steps", "shortest", "longest"),
    [([31, 31, 15, 15], 9, 23), ([1], 1, 1), ([63] * 10, 25, 63)],
)
def test_shares_of_the_mean_length(steps: list[int], shortest: int, longest: int) -> None:
    lengths = trees_of(steps, np.random.default_rng(1).standard_normal(len(steps))).final(STEP, MOST)
    assert lengths is not None
    assert lengths[:2] == (shortest, longest)
    drawn = [lengths.draw(rng) for rng in np.random.default_rng(2).spawn(500)]
    assert {steps[0] for steps in drawn} == set(range(shortest, longest + 1))
    assert all(list(steps[1:]) == [SHORT_STEPS] * lengths.short for steps in drawn)


def test_lengths_are_in_time() -> None:
    """A window begins with long steps and few of them."""
    trees = Trees.none().update(4 * 1.0, 0.0).update(16 * 0.25, 1.0)
    lengths = trees.final(0.1, MOST)
    assert lengths is not None
    assert lengths[:2] == (16, 40)


def test_lengths_have_a_limit_if_the_step_size_has_collapsed() -> None:
    lengths = trees_of([31], np.zeros(1)).final(1e-20, MOST)
    assert lengths is not None
    assert lengths.longest == MOST
    assert lengths.draw(np.random.default_rng(0))[0] <= MOST


def test_sums_are_those_of_the_whole_series() -> None:
    """Far from zero, where sums of squares would lose all digits."""
    densities = -1e8 + np.random.default_rng(3).standard_normal(50)
    trees = trees_of([3] * 50, densities)
    assert trees.squares == pytest.approx(50 * np.var(densities), rel=1e-6)
    assert trees.changes == pytest.approx(np.sum(np.diff(densities) ** 2), rel=1e-6)


@pytest.mark.parametrize(("correlation", "short"), [(0.0, 1), (0.6, 1), (0.95, 4)])
def test_a_log_density_that_crawls_asks_for_more_new_momenta(correlation: float, short: int) -> None:
    """The mean square of a change is 2(1 − ρ) of the variance."""
    rng, series = np.random.default_rng(4), [0.0]
    for _ in range(150):
        series.append(correlation * series[-1] + np.sqrt(1.0 - correlation**2) * rng.standard_normal())
    lengths = trees_of([15] * 151, np.array(series)).final(STEP, MOST)
    assert lengths is not None
    assert lengths.short == short
