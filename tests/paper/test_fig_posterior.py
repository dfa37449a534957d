"""Marginals of a factor."""

from pathlib import Path

import numpy as np
import pytest

from manifill.paper.fig_posterior import FactorMarginals, fig_posterior
from manifill.paper.tasks import Result
from manifill.paper.verdict import Answer
from tests.paper.example_results import SIZE


@pytest.mark.parametrize(("rotates", "answer"), [(True, Answer.REPRODUCED), (False, Answer.DIFFERENT)])
def test_rotation_is_judged_chain_by_chain(rotates: bool, answer: Answer, tmp_path: Path) -> None:
    """Four chains that stay in four different directions do not rotate."""
    angles = np.linspace(0.0, 2.0 * np.pi, 100) * rotates + np.arange(4)[:, None] * np.pi / 2.0
    still = np.random.default_rng(3).normal(0.0, 0.1, (4, 100))
    tasks = [FactorMarginals("factors", SIZE), FactorMarginals("joint", SIZE)]
    left = (np.stack([np.cos(a), np.sin(a)], axis=-1)[:, :, None].repeat(2, axis=2) for a in (angles, still))
    results = {task.key: Result({}, {"left": rows}) for task, rows in zip(tasks, left, strict=True)}
    assert fig_posterior(tasks, results, tmp_path).verdicts[0].answer is answer
    assert not fig_posterior(tasks[:1], results, tmp_path).verdicts, "one of two results gives no verdict"
