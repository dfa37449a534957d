"""Tables, percentages and intervals as text for the page."""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["PageTable", "format_interval", "percent"]


class PageTable(NamedTuple):
    """A table of strings.  The first ``text_columns`` columns contain text, the others numbers."""

    header: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    text_columns: int = 1


def percent(share: float, digits: int = 1) -> str:
    """Return a share as a percentage, with a non-breaking space before the sign."""
    return f"{100.0 * share:.{digits}f}\N{NO-BREAK SPACE}%"


def format_interval(low: str, high: str) -> str:
    """Return an interval as text."""
    return f"{low} to {high}"
