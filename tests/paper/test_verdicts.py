"""From results to verdicts."""

import dataclasses

import numpy as np
import pytest

from manifill.paper.fits import Fit
from manifill.paper.groups import Group, grouped
from manifill.paper.printed import DEVIATIONS, MILLISECONDS
from manifill.paper.protocol import Size
from manifill.paper.results import Result
from manifill.paper.section import Answer, Column, Table, compared, number
from manifill.paper.table_mad import table_mad
from manifill.paper.table_time import table_time

SIZE = Size(2, 300, 300, 2)
FIGURES = {
    "deviations": [0.1, 2.3, 10.0],
    "deviations_from_zero": [0.04, 2.3, 10.0],
    "rmse": 1.0,
    "log_density": -1.0,
    "crps": 0.5,
    "coverage": 0.9,
    "rhat": 1.005,
    "rhat_of_factors": 1.8,
    "worst": "lp",
    "ess": 400.0,
    "converged": True,
    "divergences": 0,
    "chains": 2,
    "draws": 300,
    "milliseconds": 4.0,
    "gradients": None,
}


def group(model: str = "SVD", sampler: str = "joint", **figures: object) -> Group:
    fit = Fit("case-1", 0.4, model, sampler, 0, SIZE)
    return Group(fit, tuple(Result(FIGURES | figures, {}) for _ in range(2)))


@pytest.mark.parametrize(
    ("product", "answer"),
    [
        (0.89, Answer.BETTER),
        (0.95, Answer.REPRODUCED),
        (1.1, Answer.REPRODUCED),
        (1.2, Answer.WORSE),
        (float("nan"), Answer.WORSE),
    ],
)
def test_small_is_good(product: float, answer: Answer) -> None:
    assert compared(product, 1.0) is answer


@pytest.mark.parametrize(
    ("figures", "mixes"),
    [({}, True), ({"rhat": 1.11}, False), ({"ess": 19.0}, False), ({"rhat": float("nan")}, False)],
)
def test_mixing_is_judged_by_rhat_and_ess(figures: dict, mixes: bool) -> None:
    assert group(**figures).mixes is mixes


def test_half_of_the_repetitions_decide_nothing() -> None:
    stuck, good = (Result(FIGURES | {"rhat": rhat}, {}) for rhat in (2.0, 1.0))
    half = Group(Fit("case-1", 0.4, "SVD", "joint", 0, SIZE), (good, stuck))
    assert half.mixes is None
    assert table_mad([half]).verdicts[1].why == "Half of the repetitions mix."


def test_the_majority_of_repetitions_decides() -> None:
    stuck, good = (Result(FIGURES | {"rhat": rhat}, {}) for rhat in (2.0, 1.0))
    fit = Fit("case-1", 0.4, "SVD", "joint", 0, SIZE)
    assert Group(fit, (good, good, stuck)).mixes
    assert not Group(fit, (good, stuck, stuck)).mixes


@pytest.mark.parametrize(
    ("figures", "answers"),
    [
        ({}, [Answer.REPRODUCED, Answer.REPRODUCED]),
        ({"deviations": [0.0, 1e-4, 1e-2]}, [Answer.BETTER, Answer.REPRODUCED]),
        ({"deviations": [0.0, 5.0, 9.0], "rhat": 1.5}, [Answer.WORSE, Answer.WORSE]),
    ],
)
def test_a_line_of_the_first_table(figures: dict, answers: list[Answer]) -> None:
    section = table_mad([group(**figures)])
    assert [verdict.answer for verdict in section.verdicts] == answers
    assert all(verdict.why for verdict in section.verdicts)


@pytest.mark.parametrize(("median", "answer"), [(1.9, Answer.REPRODUCED), (1.2, Answer.BETTER), (2.2, Answer.WORSE)])
def test_nobody_is_better_by_predicting_zero(median: float, answer: Answer) -> None:
    """The paper prints 2.3 where zero is off by 1.9: who is off by 1.9 too is no better than zero."""
    verdict = table_mad([group(deviations=[0.0, median, 8.0], deviations_from_zero=[0.0, 1.9, 8.0])]).verdicts[0]
    assert verdict.answer is answer
    assert "predicting zero ([0, 1.9, 8])" in verdict.why
    assert ("nearer" in verdict.why) == (answer is Answer.BETTER)


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
    verdict = table_mad([Group(fit, (Result(FIGURES | {"deviations": deviations}, {}),))]).verdicts[0]
    assert verdict.answer is answer


def test_the_baseline_is_said_not_to_mix() -> None:
    """Where A Bᵀ mixes all the same, that is said, beside the entries of A, which do not."""
    stuck, moving = (table_mad([group("ABT", "factors", rhat=rhat)]).verdicts[1] for rhat in (3.0, 1.0))
    assert (stuck.answer, moving.answer) == (Answer.REPRODUCED, Answer.DIFFERENT)
    assert "1.80" in moving.why


@pytest.mark.parametrize("model", ["ABT", "SVD"])
def test_short_chains_decide_nothing(model: str) -> None:
    short = group(model, "factors" if model == "ABT" else "gibbs", rhat=3.0)
    fit = dataclasses.replace(short.fit, size=Size(2, 10, 299, 1))
    assert table_mad([Group(fit, short.results)]).verdicts[1].answer is Answer.UNDECIDED


def test_printed_figures_are_shown_as_they_are_printed() -> None:
    fit = Fit("case-3", 0.4, "ABT", "factors", 0, SIZE)
    assert table_mad([Group(fit, (Result(FIGURES, {}),))]).verdicts[0].paper == "[0.69, 6.1, 13.4]"


def test_times_are_set_beside_the_baseline() -> None:
    """The paper's ratio is 26 / 5.6 = 4.6."""
    section = table_time([group("ABT", "factors", milliseconds=2.0), group(milliseconds=52.0, gradients=30.0)])
    assert [row[-1] for row in section.tables[0].rows] == [1.0, 26.0]
    assert [verdict.answer for verdict in section.verdicts] == [Answer.BETTER, Answer.WORSE, Answer.WORSE]
    faster = [group("ABT", "factors", milliseconds=0.5), group(milliseconds=13.0, gradients=30.0)]
    assert table_time(faster).verdicts[-1].answer is Answer.DIFFERENT, "faster than the paper's, and ABᵀ more so"
    slower = [group("ABT", "factors", milliseconds=500.0), group(milliseconds=1000.0, gradients=30.0)]
    assert table_time(slower).verdicts[-1].answer is Answer.DIFFERENT, "a slow baseline is no merit"


def test_repetitions_are_seen_together() -> None:
    first = Fit("case-1", 0.4, "SVD", "joint", 0, SIZE)
    fits = [first, dataclasses.replace(first, repetition=1), dataclasses.replace(first, sampler="gibbs")]
    results = {fit.key: Result(FIGURES | {"rmse": float(k)}, {}) for k, fit in enumerate(fits)}
    joint, gibbs = grouped(fits, results)
    np.testing.assert_array_equal(joint.each("rmse"), [0.0, 1.0])
    np.testing.assert_array_equal(gibbs.each("rmse"), [2.0])


def test_the_paper_prints_both_tables_for_the_same_fits() -> None:
    assert DEVIATIONS.keys() == MILLISECONDS.keys()


def test_a_table_as_text() -> None:
    columns = Column("a"), Column("b", number), Column("c", lambda pair: "–".join(map(str, pair)), ("c low", "c high"))
    table = Table("t", columns, [("x|y", 0.12345, (1, 2)), ("p,q", 1234.5, None)])
    assert table.to_csv() == 'a,b,c low,c high\nx|y,0.12345,1,2\n"p,q",1234.5,,\n'
    assert table.to_markdown() == "| a | b | c |\n| --- | --- | --- |\n| x\\|y | 0.123 | 1–2 |\n| p,q | 1234 |  |\n"
