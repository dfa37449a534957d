"""What the chains did: traces and autocorrelation of a few quantities that they must agree in."""

import re
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from manifill.posterior import Diagnostics
from manifill.report.charts import GREY, PALETTE, Chart, chart, single
from manifill.report.convergence import worst_first
from manifill.report.labels import chart_text
from manifill.report.study import Study
from manifill.types import Array

__all__ = ["Traces", "traces"]

SHOWN = 6
MOST_POINTS = 1000  # of a chain; a screen has no room for more


class Traces(NamedTuple):
    """The section on traces."""

    charts: list[tuple[str, Chart]]  # with the name of the quantity
    autocorrelation: Chart
    step: int  # every so many-th draw is drawn


def traces(study: Study, series: dict[str, Array]) -> Traces:
    """Return the section; ``series`` holds the quantities that were diagnosed, (chain, draw) each."""
    names = chosen(study.model.diagnostics_)
    step = -(-study.draws.draws // MOST_POINTS)
    return Traces(
        charts=[(title(study, name), _trace(f"trace-{k}", name, series[name], step)) for k, name in enumerate(names)],
        autocorrelation=_autocorrelation(study, names),
        step=step,
    )


def chosen(diagnostics: Diagnostics) -> list[str]:
    """Return the log density, the noise, the largest and the smallest singular value, and the worst of the rest."""
    known = [q.name for q in diagnostics.quantities]
    singular = [name for name in known if name.startswith("singular_value")]
    usual = [name for name in ("lp", "sigma") if name in known] + singular[:1] + singular[-1:]
    worst = [q.name for q in worst_first(diagnostics)]
    return list(dict.fromkeys([*usual, *worst]))[:SHOWN]


def title(study: Study, name: str) -> str:
    """Return the name of a quantity, with labels where it is a cell."""
    cell = re.fullmatch(r"X\[(\d+),(\d+)\]", name)
    if cell is None:
        return name
    return f"{name}: {study.row_labels[int(cell[1])]}, {study.column_labels[int(cell[2])]}"


def _trace(place: str, name: str, values: Array, step: int) -> Chart:
    draws = np.arange(0, values.shape[1], step)
    lines = [
        go.Scatter(
            x=draws,
            y=single(chain[draws]),
            name=f"chain {k}",
            line={"color": PALETTE[k % len(PALETTE)], "width": 1},
            opacity=0.75,
            hovertemplate=f"chain {k}, draw %{{x}}: %{{y:.4g}}<extra></extra>",
        )
        for k, chain in enumerate(values)
    ]
    return chart(
        place,
        f"Trace of {name}, one line a chain",
        lines,
        xaxis={"title": {"text": "draw"}},
        yaxis={"nticks": 5, "automargin": True, "exponentformat": "none"},
    )


def _autocorrelation(study: Study, names: list[str]) -> Chart:
    lines: list[Any] = [
        go.Scatter(
            y=single(study.model.diagnostics_.autocorrelation[name]),
            name=chart_text(title(study, name)),
            line={"color": PALETTE[k % len(PALETTE)], "width": 1.5},
            hovertemplate="lag %{x}: %{y:.2f}<extra>%{fullData.name}</extra>",
        )
        for k, name in enumerate(names)
    ]
    return chart(
        "autocorrelation",
        "Autocorrelation of the same quantities, by lag",
        lines,
        showlegend=True,
        legend={"orientation": "h", "y": -0.3, "yanchor": "top"},
        xaxis={"title": {"text": "lag"}},
        yaxis={"range": [-0.25, 1.05], "zeroline": True, "zerolinecolor": GREY},
    )
