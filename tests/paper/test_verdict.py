"""Comparison of a number with the published one."""

import pytest

from manifill.paper.verdict import Answer, compare


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
def test_smaller_is_better(product: float, answer: Answer) -> None:
    assert compare(product, 1.0) is answer
