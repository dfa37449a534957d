"""A section of the page: the text, verdicts, tables and figures of one experiment."""

from dataclasses import dataclass, field
from typing import NamedTuple

from manifill.paper.result_table import Table
from manifill.paper.verdict import Verdict

__all__ = ["Figure", "Section"]


class Figure(NamedTuple):
    """A figure, written as ``name``.png and ``name``.svg."""

    name: str
    caption: str


@dataclass(frozen=True)
class Section:
    """What the page shows for one experiment."""

    name: str
    title: str
    text: str
    verdicts: list[Verdict]
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
