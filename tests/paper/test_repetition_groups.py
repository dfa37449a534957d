"""Repetitions of a fit, and whether they mix."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from manifill.paper.fit_task import Fit
from manifill.paper.repetition_groups import RepetitionGroup, group_repetitions
from manifill.paper.table_mad import table_mad
from manifill.paper.tasks import Result
from tests.paper.example_results import METRICS, SIZE, two_repetitions


@pytest.mark.parametrize(
    ("metrics", "mixes"),
    [({}, True), ({"rhat": 1.11}, False), ({"ess": 19.0}, False), ({"rhat": float("nan")}, False)],
)
def test_mixing_is_judged_by_rhat_and_ess(metrics: dict[str, Any], mixes: bool) -> None:
    assert two_repetitions(**metrics).mixes is mixes


def test_half_of_the_repetitions_decide_nothing() -> None:
    stuck, good = (Result(METRICS | {"rhat": rhat}, {}) for rhat in (2.0, 1.0))
    half = RepetitionGroup(Fit("case-1", 0.4, "SVD", "joint", 0, SIZE), (good, stuck))
    assert half.mixes is None
    assert table_mad([half]).verdicts[1].why == "Half of the repetitions mix."


def test_the_majority_of_repetitions_decides() -> None:
    stuck, good = (Result(METRICS | {"rhat": rhat}, {}) for rhat in (2.0, 1.0))
    fit = Fit("case-1", 0.4, "SVD", "joint", 0, SIZE)
    assert RepetitionGroup(fit, (good, good, stuck)).mixes
    assert not RepetitionGroup(fit, (good, stuck, stuck)).mixes


def test_repetitions_of_one_fit_form_a_group() -> None:
    first = Fit("case-1", 0.4, "SVD", "joint", 0, SIZE)
    fits = [first, dataclasses.replace(first, repetition=1), dataclasses.replace(first, sampler="gibbs")]
    results = {fit.key: Result(METRICS | {"rmse": float(k)}, {}) for k, fit in enumerate(fits)}
    joint, gibbs = group_repetitions(fits, results)
    np.testing.assert_array_equal(joint.per_repetition("rmse"), [0.0, 1.0])
    np.testing.assert_array_equal(gibbs.per_repetition("rmse"), [2.0])
