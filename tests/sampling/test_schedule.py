"""The schedule of warm-up: windows that are never too short, trees after the last of them, and then the step size."""

import pytest

from manifill.sampling.warmup_schedule import Schedule


@pytest.mark.parametrize(
    ("warmup", "early", "windows", "trees"),
    [
        (0, 0, set(), 0),
        (10, 1, {5}, 7),
        (30, 3, {9, 15}, 21),
        (250, 25, {15, 38, 75, 125}, 175),
        (1000, 100, {60, 150, 300, 500}, 700),
    ],
)
def test_schedule(warmup: int, early: int, windows: set[int], trees: int) -> None:
    assert Schedule.of(warmup) == Schedule(early, frozenset(windows), trees)


@pytest.mark.parametrize("warmup", range(1, 60))
def test_lengths_are_learned_from_trees_with_the_last_masses(warmup: int) -> None:
    schedule = Schedule.of(warmup)
    assert all(5 <= end < schedule.trees <= warmup for end in schedule.windows)
