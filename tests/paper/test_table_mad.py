"""Verdicts of Table 1: deviations and mixing."""

import dataclasses
from typing import Any

import pytest

from manifill.paper.fit_task import Fit
from manifill.paper.protocol import Size
from manifill.paper.repetition_groups import RepetitionGroup
from manifill.paper.table_mad import table_mad
from manifill.paper.tasks import Result
from manifill.paper.verdict import Answer
from tests.paper.example_results import METRICS, SIZE, two_repetitions


@pytest.mark.parametrize(
    ("metrics", "answers"),
    [
        ({}, [Answer.REPRODUCED, Answer.REPRODUCED]),
        ({"deviations": [0.0, 1e-4, 1e-2]}, [Answer.BETTER, Answer.REPRODUCED]),
        ({"deviations": [0.0, 5.0, 9.0], "rhat": 1.5}, [Answer.WORSE, Answer.WORSE]),
    ],
)
def test_verdicts_of_a_row(metrics: dict[str, Any], answers: list[Answer]) -> None:
    section = table_mad([two_repetitions(**metrics)])
    assert [verdict.answer for verdict in section.verdicts] == answers
    assert all(verdict.why for verdict in section.verdicts)


@pytest.mark.parametrize(("median", "answer"), [(1.9, Answer.REPRODUCED), (1.2, Answer.BETTER), (2.2, Answer.WORSE)])
def test_predicting_zero_is_never_better(median: float, answer: Answer) -> None:
    """The paper prints 2.3 where zero is off by 1.9: a fit that is off by 1.9 is no better than predicting zero."""
    group = two_repetitions(deviations=[0.0, median, 8.0], deviations_from_zero=[0.0, 1.9, 8.0])
    verdict = table_mad([group]).verdicts[0]
    assert verdict.answer is answer
    assert "predicting zero ([0, 1.9, 8])" in verdict.why
    assert ("closer" in verdict.why) == (answer is Answer.BETTER)


@pytest.mark.parametrize(
    ("deviations", "answer"),
    [
        ([0.0, 1.6, 5.0], Answer.REPRODUCED),
        ([0.0, 1.2, 4.0], Answer.BETTER),
        ([0.0, 1.2, 5.0], Answer.BETTER),
        ([0.0, 1.6, 6.0], Answer.WORSE),
        ([0.0, 1.2, 8.3], Answer.DIFFERENT),
        ([0.0, 2.0, 4.0], Answer.DIFFERENT),
    ],
)
def test_real_data_are_judged_by_median_and_tail(deviations: list[float], answer: Answer) -> None:
    fit = Fit("movielens", 0.8, "SVD", "gibbs", 0, SIZE)
    verdict = table_mad([RepetitionGroup(fit, (Result(METRICS | {"deviations": deviations}, {}),))]).verdicts[0]
    assert verdict.answer is answer


def test_the_baseline_is_expected_not_to_mix() -> None:
    """If A Bᵀ mixes all the same, the reason reports R-hat of the entries of A, which do not."""
    stuck, moving = (table_mad([two_repetitions("ABT", "factors", rhat=rhat)]).verdicts[1] for rhat in (3.0, 1.0))
    assert (stuck.answer, moving.answer) == (Answer.REPRODUCED, Answer.DIFFERENT)
    assert "1.80" in moving.why


@pytest.mark.parametrize("model", ["ABT", "SVD"])
def test_short_chains_decide_nothing(model: str) -> None:
    short = two_repetitions(model, "factors" if model == "ABT" else "gibbs", rhat=3.0)
    fit = dataclasses.replace(short.fit, size=Size(2, 10, 299, 1))
    assert table_mad([RepetitionGroup(fit, short.results)]).verdicts[1].answer is Answer.UNDECIDED


def test_published_values_are_not_rounded() -> None:
    fit = Fit("case-3", 0.4, "ABT", "factors", 0, SIZE)
    assert table_mad([RepetitionGroup(fit, (Result(METRICS, {}),))]).verdicts[0].paper == "[0.69, 6.1, 13.4]"
