"""The lengths at which a run with draws="auto" is judged."""

import pytest

from manifill.run.draw_rule import AutoDraws, Ending, limit_sentence


@pytest.mark.parametrize(
    ("draws", "needed", "expected"),
    [
        (250, 400, 400),  # what is needed
        (250, 260, 313),  # at least a quarter more
        (250, 250, 313),  # another reason than too few draws
        (250, 9000, 500),  # at most twice as many
        (900, 1800, 1000),  # never above the limit
    ],
)
def test_a_run_grows_by_a_quarter_to_twice_its_length(draws: int, needed: int, expected: int) -> None:
    assert AutoDraws(1000, None).next_goal(draws, needed) == expected


@pytest.mark.parametrize(("limit", "expected"), [(4000, 250), (100, 100), (1, 1)])
def test_the_first_block_keeps_to_the_limit(limit: int, expected: int) -> None:
    assert AutoDraws(limit, None).first_goal == expected


@pytest.mark.parametrize("begin", [1, 2, 3, 250])
def test_every_run_gets_longer_until_the_limit(begin: int) -> None:
    goals = [begin]
    while goals[-1] < 4000:
        goals.append(AutoDraws(4000, None).next_goal(goals[-1], goals[-1]))
    assert goals == sorted(set(goals))
    assert goals[-1] == 4000


def test_only_limits_have_a_sentence() -> None:
    found = {ending: limit_sentence(ending, 70, 1.5) for ending in Ending}
    assert found[Ending.MAX_DRAWS] == "The limit max_draws=70 was reached before predictions were green."
    assert found[Ending.MAX_MINUTES] == "The limit max_minutes=1.5 was reached before predictions were green."
    assert [ending for ending in Ending if found[ending]] == [Ending.MAX_DRAWS, Ending.MAX_MINUTES]
