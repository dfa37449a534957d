"""Names of rows, columns and values, as a page shows them."""

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

from manifill.types import Array

__all__ = ["Names", "chart_text", "names_of", "shown_labels"]

LONGEST = 60


class Names(NamedTuple):
    """What rows, columns and values are called."""

    row: str = "row"
    column: str = "column"
    value: str = "value"


def names_of(attributes: Mapping[str, Any]) -> Names:
    """Return the names that the table of a run had, where its draws know how it was read."""
    layout = attributes.get("layout") or {}
    found = (layout.get(key) or default for key, default in zip(("row", "col", "value"), Names(), strict=True))
    return Names(*found)


def shown_labels(labels: Array | None, size: int) -> list[str]:
    """Return a text for each label, long ones cut; numbers from 0 where there are no labels."""
    texts = range(size) if labels is None else labels.tolist()
    return [_cut(str(text)) for text in texts]


def chart_text(text: str) -> str:
    """Return a text that a chart shows as it is; charts would read ``<b>`` and ``&amp;`` as HTML."""
    return escape(text, quote=False)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
