"""From results to pictures, and what is said of them."""

from pathlib import Path

import numpy as np
import pytest

from manifill.paper.fig_mad import edges_of, fig_mad
from manifill.paper.fig_posterior import Marginals, fig_posterior
from manifill.paper.fig_rank import fig_rank
from manifill.paper.fig_traces import fig_traces
from manifill.paper.fits import Fit
from manifill.paper.groups import Group
from manifill.paper.protocol import Size
from manifill.paper.results import Result
from manifill.paper.section import Answer
from manifill.types import Array
from tests.paper.test_verdicts import FIGURES

SIZE = Size(2, 300, 300, 1)


def group(model: str, sampler: str, arrays: dict[str, Array], size: Size = SIZE, **figures: object) -> Group:
    fit = Fit("case-1", 0.4, model, sampler, 0, size)
    return Group(fit, (Result(FIGURES | figures, arrays),) * 2)


def with_deviations(scale: float) -> Group:
    deviations = np.abs(np.random.default_rng(1).normal(0.0, scale, 500)).astype(np.float32)
    return group("SVD", "joint", {"deviations": deviations})


def test_bins_are_linear_unless_all_deviations_are_tiny(tmp_path: Path) -> None:
    large, tiny = with_deviations(2.0), with_deviations(1e-5)
    assert edges_of([large], 12.0)[[0, -1]].tolist() == [0.0, 12.0]
    ratios = edges_of([large, tiny], 12.0)
    np.testing.assert_allclose(np.diff(np.log(ratios)), np.log(ratios[1] / ratios[0]))
    assert ratios[0] < 1e-6 < 5.0 < ratios[-1], "both are shown"
    exact = group("SVD", "gibbs", {"deviations": np.zeros(500, np.float32)})
    section = fig_mad([tiny, exact, group("ABT", "factors", {"deviations": np.ones(500, np.float32)})], tmp_path)
    assert (tmp_path / f"{section.pictures[0].name}.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("beyond", "draws", "rhat", "answer"),
    [
        (0.5, 30, 3.0, Answer.REPRODUCED),
        (3.0, 30, 3.0, Answer.UNDECIDED),
        (3.0, 300, 3.0, Answer.WORSE),
        (3.0, 300, 1.0, Answer.WORSE),
    ],
)
def test_values_beyond_the_tenth(beyond: float, draws: int, rhat: float, answer: Answer, tmp_path: Path) -> None:
    middle = np.concatenate([np.linspace(100.0, 42.0, 10), np.full(5, 0.9 * beyond)])
    fit = Fit("case-1", 0.4, "SVD", "gibbs", 0, Size(2, 300, draws, 1), rank=15)
    arrays = {"singular_values": np.stack([0.9 * middle, middle, middle / 0.9])}
    section = fig_rank([fit], {fit.key: Result(FIGURES | {"rhat": rhat}, arrays)}, tmp_path)
    assert section.verdicts[0].answer is answer
    assert ("have not mixed (R-hat 3.00)" in section.verdicts[0].why) == (answer is Answer.WORSE and rhat > 2.0)


def with_traces(model: str, sampler: str, lag: float = 0.0, size: Size = SIZE, **figures: object) -> Group:
    cell = "A" if model == "ABT" else "X"
    draws = np.random.default_rng(2).standard_normal((2, 50))
    correlations = np.stack([np.array([1.0, lag, 0.0]), np.full(3, 0.1)])
    arrays = {"trace lp": draws, f"trace {cell}[0,0]": draws, "autocorrelation": correlations}
    return group(model, sampler, arrays | {"autocorrelation_of_factors": correlations}, size, **figures)


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


@pytest.mark.parametrize(("turns", "answer"), [(True, Answer.REPRODUCED), (False, Answer.DIFFERENT)])
def test_marginals_are_judged_chain_by_chain(turns: bool, answer: Answer, tmp_path: Path) -> None:
    """Four chains that stand still in four directions do not turn."""
    angles = np.linspace(0.0, 2.0 * np.pi, 100) * turns + np.arange(4)[:, None] * np.pi / 2.0
    still = np.random.default_rng(3).normal(0.0, 0.1, (4, 100))
    tasks = [Marginals("factors", SIZE), Marginals("joint", SIZE)]
    left = (np.stack([np.cos(a), np.sin(a)], axis=-1)[:, :, None].repeat(2, axis=2) for a in (angles, still))
    results = {task.key: Result({}, {"left": rows}) for task, rows in zip(tasks, left, strict=True)}
    assert fig_posterior(tasks, results, tmp_path).verdicts[0].answer is answer
    assert not fig_posterior(tasks[:1], results, tmp_path).verdicts, "half of it says nothing"
