"""Plotly charts, as JSON that the page's script draws."""

from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from manifill.base.arrays import Array

__all__ = ["BLUE", "GREY", "ORANGE", "PALETTE", "Chart", "as_float32", "chart", "with_opacity"]

# The palette of Okabe and Ito, which is safe for colour-blind readers; a lighter blue, to be visible on black too.
BLUE, ORANGE = "#2B83C6", "#D55E00"
PALETTE = (BLUE, "#E69F00", "#009E73", "#CC79A7", "#56B4E9", ORANGE)
GREY = "#8A9099"


class Chart(NamedTuple):
    """A chart: its element's id, a description for screen readers, and the figure."""

    name: str
    description: str
    figure: str  # JSON, without a "<" that could end the script element around it


def chart(name: str, description: str, traces: list[Any], **layout: Any) -> Chart:
    """Return a chart of these traces; the page's script sets fonts, grid and background colours."""
    defaults: dict[str, Any] = {
        "template": "none",
        "margin": {"l": 50, "r": 10, "t": 10, "b": 40},
        "showlegend": False,
        "hovermode": "closest",
    }
    return Chart(name, description, str(go.Figure(traces, layout={**defaults, **layout}).to_json()))


def as_float32(values: Array) -> Array:
    """Return numbers in single precision, which is enough for a chart and halves the size of the file."""
    return np.asarray(values, dtype=np.float32)


def with_opacity(colour: str, opacity: float) -> str:
    """Return a hexadecimal colour with this opacity."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"
