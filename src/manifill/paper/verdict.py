"""Verdicts: how a result of this package compares with the published one."""

from enum import StrEnum
from typing import NamedTuple

__all__ = ["Answer", "Verdict", "compare"]


class Answer(StrEnum):
    """The outcome of a comparison with the paper."""

    REPRODUCED = "reproduced"
    BETTER = "better"
    WORSE = "worse"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


class Verdict(NamedTuple):
    """One published result next to the result of this package."""

    heading: str  # shared by consecutive verdicts on the page
    name: str
    paper: str
    product: str
    answer: Answer
    why: str


def compare(product: float, paper: float, margin: float = 0.1) -> Answer:
    """Compare two values of which the smaller is the better; within ``margin`` of the paper's counts as reproduced.

    NaN counts as worse.
    """
    if product <= (1.0 - margin) * paper:
        return Answer.BETTER
    return Answer.REPRODUCED if product <= (1.0 + margin) * paper else Answer.WORSE
