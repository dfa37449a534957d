"""Numbers and tables, as a page prints them."""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Table", "percent", "span"]


class Table(NamedTuple):
    """A table of texts; the first ``words`` columns hold words, and the others numbers."""

    heads: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    words: int = 1


def percent(share: float, digits: int = 1) -> str:
    """Return a share in per cent, with a space that no line ends at."""
    return f"{100.0 * share:.{digits}f}\N{NO-BREAK SPACE}%"


def span(low: str, high: str) -> str:
    """Return an interval."""
    return f"{low} to {high}"
