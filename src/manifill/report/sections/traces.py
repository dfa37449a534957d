"""Traces and autocorrelation of a few quantities in which the chains must agree."""

from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from manifill.base.arrays import Array
from manifill.posterior import Diagnostics
from manifill.report.charts import GREY, PALETTE, Chart, as_float32, chart
from manifill.report.display_labels import escape_for_chart
from manifill.report.report_data import ReportData
from manifill.report.sections.convergence import worst_first

__all__ = ["Traces", "traces"]

MAX_QUANTITIES = 6
MAX_POINTS = 1000  # per chain; a screen cannot show more


class Traces(NamedTuple):
    """The section on traces."""

    charts: list[tuple[str, Chart]]  # title and trace of each quantity
    autocorrelation: Chart
    step: int  # one in ``step`` draws is shown


def traces(data: ReportData, series: dict[str, Array]) -> Traces:
    """Return the section; ``series`` contains the diagnosed quantities, (chain, draw) each."""
    names = selected_quantities(data.model.diagnostics_)
    step = -(-data.draws.draws // MAX_POINTS)
    return Traces(
        charts=[(name, _trace(f"trace-{k}", name, series[name], step)) for k, name in enumerate(names)],
        autocorrelation=_autocorrelation(data, names),
        step=step,
    )


def selected_quantities(diagnostics: Diagnostics) -> list[str]:
    """Return the names to show: log density, shared noise, extreme singular values, and the worst R-hats."""
    known = [q.name for q in diagnostics.quantities]
    singular = [name for name in known if name.startswith("singular_value")]
    always = [name for name in known if name in ("lp", "sigma")] + singular[:1] + singular[-1:]
    worst = [q.name for q in worst_first(diagnostics.quantities)]
    return list(dict.fromkeys([*always, *worst]))[:MAX_QUANTITIES]


def _trace(chart_name: str, name: str, values: Array, step: int) -> Chart:
    draws = np.arange(0, values.shape[1], step)
    lines = [
        go.Scatter(
            x=draws,
            y=as_float32(chain[draws]),
            name=f"chain {k + 1}",
            line={"color": PALETTE[k % len(PALETTE)], "width": 1},
            opacity=0.75,
            hovertemplate=f"chain {k + 1}, draw %{{x}}: %{{y:.4g}}<extra></extra>",
        )
        for k, chain in enumerate(values)
    ]
    return chart(
        chart_name,
        f"Trace of {name}, one line per chain",
        lines,
        xaxis={"title": {"text": "draw"}},
        yaxis={"nticks": 5, "automargin": True, "exponentformat": "none"},
    )


def _autocorrelation(data: ReportData, names: list[str]) -> Chart:
    lines: list[Any] = [
        go.Scatter(
            y=as_float32(data.model.diagnostics_.autocorrelation[name]),
            name=escape_for_chart(name),
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
