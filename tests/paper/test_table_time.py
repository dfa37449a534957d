"""Verdicts of Table 2: time per draw and its ratio to the baseline."""

from manifill.paper.table_time import table_time
from manifill.paper.verdict import Answer
from tests.paper.example_results import two_repetitions


def test_times_are_compared_with_the_baseline() -> None:
    """The paper's ratio is 26 / 5.6 = 4.6."""
    groups = [two_repetitions("ABT", "factors", milliseconds=2.0), two_repetitions(milliseconds=52.0, gradients=30.0)]
    section = table_time(groups)
    assert [row[-1] for row in section.tables[0].rows] == [1.0, 26.0]
    assert [verdict.answer for verdict in section.verdicts] == [Answer.BETTER, Answer.WORSE, Answer.WORSE]


def test_faster_than_the_paper_but_less_so_than_the_baseline() -> None:
    groups = [two_repetitions("ABT", "factors", milliseconds=0.5), two_repetitions(milliseconds=13.0, gradients=30.0)]
    assert table_time(groups).verdicts[-1].answer is Answer.DIFFERENT


def test_a_slow_baseline_is_no_merit() -> None:
    slow = two_repetitions("ABT", "factors", milliseconds=500.0)
    groups = [slow, two_repetitions(milliseconds=1000.0, gradients=30.0)]
    assert table_time(groups).verdicts[-1].answer is Answer.DIFFERENT
