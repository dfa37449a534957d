"""Traces and autocorrelation."""

from pathlib import Path

import numpy as np
import pytest

from manifill.paper.fig_traces import fig_traces
from manifill.paper.protocol import Size
from manifill.paper.repetition_groups import RepetitionGroup
from manifill.paper.verdict import Answer
from tests.paper.example_results import SIZE, two_repetitions


def with_traces(model: str, sampler: str, lag: float = 0.0, size: Size = SIZE, **metrics: object) -> RepetitionGroup:
    matrix = "A" if model == "ABT" else "X"
    draws = np.random.default_rng(2).standard_normal((2, 50))
    correlations = np.stack([np.array([1.0, lag, 0.0]), np.full(3, 0.1)])
    arrays = {"trace lp": draws, f"trace {matrix}[0,0]": draws, "autocorrelation": correlations}
    return two_repetitions(model, sampler, arrays | {"autocorrelation_of_factors": correlations}, size, **metrics)


@pytest.mark.parametrize(
    ("lag", "answer"), [(0.05, Answer.REPRODUCED), (0.6, Answer.WORSE), (-0.3, Answer.BETTER)], ids=str
)
def test_autocorrelation_of_the_first_case(lag: float, answer: Answer, tmp_path: Path) -> None:
    section = fig_traces([with_traces("SVD", "joint", lag)], tmp_path)
    assert [verdict.answer for verdict in section.verdicts] == [answer]


@pytest.mark.parametrize(
    ("rhat", "draws", "answer"),
    [(2.0, 300, Answer.REPRODUCED), (2.0, 100, Answer.UNDECIDED), (1.0, 100, Answer.DIFFERENT)],
)
def test_stationarity_of_the_baseline(rhat: float, draws: int, answer: Answer, tmp_path: Path) -> None:
    size = Size(2, 300, draws, 1)
    section = fig_traces([with_traces("ABT", "factors", size=size, rhat_of_factors=rhat)], tmp_path)
    assert [verdict.answer for verdict in section.verdicts] == [answer]
