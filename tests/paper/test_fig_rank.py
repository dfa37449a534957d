"""Singular values of a fit with too many components."""

from pathlib import Path

import numpy as np
import pytest

from manifill.paper.fig_rank import fig_rank
from manifill.paper.fit_task import Fit
from manifill.paper.protocol import Size
from manifill.paper.tasks import Result
from manifill.paper.verdict import Answer
from tests.paper.example_results import METRICS


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
    section = fig_rank([fit], {fit.key: Result(METRICS | {"rhat": rhat}, arrays)}, tmp_path)
    assert section.verdicts[0].answer is answer
    assert ("have not mixed (R-hat 3.00)" in section.verdicts[0].why) == (answer is Answer.WORSE and rhat > 2.0)
