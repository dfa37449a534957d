"""Labels of rows and columns as the page shows them."""

from html import escape

from manifill.base.arrays import Array
from manifill.base.wording import shortened
from manifill.problem.cell_names import as_text

__all__ = ["display_labels", "escape_for_chart"]


def display_labels(labels: Array | None, size: int) -> list[str]:
    """Return each label as text, without its middle if it is long; numbers from 0 if there are no labels."""
    return [shortened(as_text(label)) for label in (range(size) if labels is None else labels)]


def escape_for_chart(text: str) -> str:
    """Return text that a chart shows literally; Plotly would interpret ``<b>`` and ``&amp;`` as HTML."""
    return escape(text, quote=False)
