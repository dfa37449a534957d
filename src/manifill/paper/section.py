"""What an experiment shows: tables, pictures, and a verdict for each line of the paper that it repeats."""

import csv
import io
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

__all__ = ["Answer", "Picture", "Section", "Table", "Verdict", "compared"]


class Answer(StrEnum):
    """How the product's figure stands to the paper's."""

    REPRODUCED = "reproduced"
    BETTER = "better"
    WORSE = "worse"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


class Verdict(NamedTuple):
    """A line of the paper, beside what was found."""

    name: str
    paper: str
    product: str
    answer: Answer
    why: str


class Table(NamedTuple):
    """A table under a file's name."""

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def to_csv(self) -> str:
        """Return it as CSV."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue()

    def to_markdown(self) -> str:
        """Return it as Markdown."""
        lines = [self.columns, tuple("---" for _ in self.columns), *self.rows]
        return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines)


class Picture(NamedTuple):
    """A figure, written as ``name``.png and ``name``.svg."""

    name: str
    caption: str


@dataclass(frozen=True)
class Section:
    """An experiment's part of the page."""

    name: str
    title: str
    text: str
    verdicts: list[Verdict]
    tables: list[Table] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)


def compared(product: float, paper: float, margin: float = 0.1) -> Answer:
    """Judge a figure that had better be small: within ``margin`` of the paper's it is reproduced."""
    if product <= (1.0 - margin) * paper:
        return Answer.BETTER
    return Answer.REPRODUCED if product <= (1.0 + margin) * paper else Answer.WORSE  # and so is NaN
