"""What an experiment shows: tables, pictures, and a verdict for each line of the paper that it repeats."""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

__all__ = ["Answer", "Column", "Picture", "Section", "Table", "Verdict", "compared", "number"]


class Answer(StrEnum):
    """How the product's figure stands to the paper's."""

    REPRODUCED = "reproduced"
    BETTER = "better"
    WORSE = "worse"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


class Verdict(NamedTuple):
    """A line of the paper, beside what was found."""

    heading: str  # under which it stands with others
    name: str
    paper: str
    product: str
    answer: Answer
    why: str


def number(value: float) -> str:
    """Return a number for people: three digits that count, and no powers of ten where none are needed."""
    return f"{value:.0f}" if 100.0 <= abs(value) < 1e6 else f"{value:.3g}"


class Column(NamedTuple):
    """A column of a table: how its cells are shown, and its names in files where a cell holds several numbers."""

    title: str
    shown: Callable[[Any], str] = str
    fields: tuple[str, ...] = ()


class Table(NamedTuple):
    """A table under a file's name; cells are numbers, words, or as many numbers as the column has fields."""

    name: str
    columns: tuple[Column, ...]
    rows: list[tuple[Any, ...]]

    def shown(self) -> list[list[str]]:
        """Return the cells for people; what is not there is empty."""
        return [
            ["" if cell is None else column.shown(cell) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def records(self) -> list[dict[str, Any]]:
        """Return the rows for programs."""
        return [dict(self._named(row)) for row in self.rows]

    def _named(self, row: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
        for column, cell in zip(self.columns, row, strict=True):
            if column.fields:
                values = (None,) * len(column.fields) if cell is None else cell
                yield from zip(column.fields, values, strict=True)
            else:
                yield column.title, cell

    def to_csv(self) -> str:
        """Return it as CSV."""
        text = io.StringIO()
        names = [name for column in self.columns for name in column.fields or (column.title,)]
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records())
        return text.getvalue()

    def to_markdown(self) -> str:
        """Return it as Markdown."""
        titles = [column.title for column in self.columns]
        lines = [titles, ["---" for _ in titles], *self.shown()]
        return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


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
