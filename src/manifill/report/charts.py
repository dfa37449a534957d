"""Charts by Plotly, as JSON that the page's script draws."""

from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from manifill.types import Array

__all__ = ["BLUE", "GREY", "ORANGE", "PALETTE", "Chart", "chart", "shade", "single"]

# Okabe and Ito's colours, which the colour-blind can tell apart; the blue is lighter, to show on black too.
BLUE, ORANGE = "#2B83C6", "#D55E00"
PALETTE = (BLUE, "#E69F00", "#009E73", "#CC79A7", "#56B4E9", ORANGE)
GREY = "#8A9099"


class Chart(NamedTuple):
    """A chart: the identifier of its place, what it shows in words, and the figure."""

    name: str
    says: str
    figure: str  # JSON, without a "<" that could end the script element around it


def chart(name: str, says: str, traces: list[Any], **layout: Any) -> Chart:
    """Return a chart of these traces; fonts, grid and colours of the background are the page's."""
    usual: dict[str, Any] = {
        "template": "none",
        "margin": {"l": 50, "r": 10, "t": 10, "b": 40},
        "showlegend": False,
        "hovermode": "closest",
    }
    return Chart(name, says, str(go.Figure(traces, layout={**usual, **layout}).to_json()))


def single(values: Array) -> Array:
    """Return numbers in single precision, which is all that a picture shows, and half as long in the file."""
    return np.asarray(values, dtype=np.float32)


def shade(colour: str, opacity: float) -> str:
    """Return a colour that lets some of the background through."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"
