"""Labels of rows and columns, and names of the table's columns, as the page shows them."""

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

from manifill.base.arrays import Array

__all__ = ["TableNames", "display_labels", "escape_for_chart", "table_names"]

MAX_LENGTH = 60


class TableNames(NamedTuple):
    """What the table calls its rows, columns and values, for example user, movie and rating."""

    row: str = "row"
    column: str = "column"
    value: str = "value"


def table_names(attributes: Mapping[str, Any]) -> TableNames:
    """Return the names in the layout that is stored with the draws, or the default names if there is none."""
    layout = attributes.get("layout") or {}
    names = (layout.get(key) or default for key, default in zip(("row", "col", "value"), TableNames(), strict=True))
    return TableNames(*names)


def display_labels(labels: Array | None, size: int) -> list[str]:
    """Return each label as text, truncated if it is long; numbers from 0 if there are no labels."""
    texts = range(size) if labels is None else labels.tolist()
    return [_truncated(str(text)) for text in texts]


def escape_for_chart(text: str) -> str:
    """Return text that a chart shows literally; Plotly would interpret ``<b>`` and ``&amp;`` as HTML."""
    return escape(text, quote=False)


def _truncated(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"
