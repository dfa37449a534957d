"""Accuracy of the predictions and coverage of their intervals on held-out cells."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from manifill.base.arrays import Array, Vector
from manifill.base.wording import counted
from manifill.estimators.held_out_accuracy import (
    Errors,
    comparison,
    errors_of,
    in_new_rows_or_columns,
    with_baselines,
)
from manifill.report.charts import BLUE, GREY, ORANGE, Chart, as_float32, chart, with_opacity
from manifill.report.coverage import Coverage, coverage, is_covered, ranks
from manifill.report.display_labels import escape_for_chart
from manifill.report.formatting import PageTable, format_interval, percent
from manifill.report.report_data import CellPredictions, Cells, ReportData

__all__ = ["Accuracy", "accuracy", "scatter_cells"]

LEVELS = (0.5, 0.8, 0.9, 0.95)
CURVE = np.arange(0.05, 1.0, 0.05)
MAX_POINTS = 1000


class Accuracy(NamedTuple):
    """The section on accuracy."""

    cells: int
    held_out_cells: str  # their number in words
    rmse: str
    ninety: str  # share of the cells that 90 % intervals cover
    comparison: str  # of the model with means
    summary: str
    new_cells: str  # a sentence about held-out cells in rows or columns without a fitted cell, if there are any
    errors: PageTable
    bars: Chart  # of the errors
    coverage: PageTable
    calibration: Chart
    scatter: Chart
    shown: int  # points in the scatter plot
    has_ties: bool  # whether values are discrete


def scatter_cells(data: ReportData) -> Cells:
    """Return the held-out cells in the scatter plot: all, or a random subset of MAX_POINTS."""
    if data.held_out is None:
        return Cells(*np.empty((2, 0), dtype=np.int64))
    rows, cols, _ = data.held_out.triples()
    points = _scatter_points(data, rows.size)
    return Cells(rows[points], cols[points])


def accuracy(data: ReportData, predictions: CellPredictions) -> Accuracy | None:
    """Return the section, or None if no cells were held out; ``predictions`` are for ``scatter_cells``."""
    held_out = data.held_out
    if held_out is None:
        return None
    _, cols, values = held_out.triples()
    found = ranks(data.rng(1), data, held_out)
    by_method = with_baselines(found.mean, data.observations, held_out, data.draws.column_scales)
    errors, ninety = errors_of(by_method, values, data.spreads[cols]), coverage(found, 0.9)
    new_cells = in_new_rows_or_columns(data.observations, held_out)
    number_format = ".3f" if data.is_scaled else data.number_format
    points = _scatter_points(data, values.size)
    return Accuracy(
        cells=values.size,
        held_out_cells=counted(values.size, "held-out cell"),
        rmse=f"{errors[0].rmse:{number_format}}",
        ninety=percent(ninety.share),
        comparison=comparison(errors, is_new=bool(new_cells)),
        summary=_summary(ninety, found.has_ties),
        new_cells=new_cells,
        errors=_error_table(errors, number_format),
        bars=_error_bars(errors, number_format),
        coverage=_coverage_table([coverage(found, level) for level in LEVELS], found.has_ties),
        calibration=_calibration([coverage(found, float(level)) for level in CURVE]),
        scatter=_scatter(data, predictions, values[points], is_covered(found, 0.9)[points]),
        shown=points.size,
        has_ties=found.has_ties,
    )


def _scatter_points(data: ReportData, size: int) -> Array:
    return np.sort(data.rng(2).permutation(size)[:MAX_POINTS])


def _error_table(errors: Sequence[Errors], number_format: str) -> PageTable:
    rows = [(name, f"{rmse:{number_format}}", f"{mae:{number_format}}") for name, rmse, mae in errors]
    return PageTable(("errors", "RMSE", "MAE"), rows)


def _error_bars(errors: Sequence[Errors], number_format: str) -> Chart:
    """Return a bar for the RMSE of each method; that of the model is blue, or orange if it does not beat the others."""
    names, is_best = [each.name for each in errors], errors[0].rmse < min(each.rmse for each in errors[1:])
    colours = [BLUE if is_best else ORANGE, *[GREY] * (len(errors) - 1)]
    bars = go.Bar(
        x=[each.rmse for each in errors],
        y=names,
        orientation="h",
        marker={"color": colours},
        width=0.55,
        text=[f"{each.rmse:{number_format}}" for each in errors],
        textposition="outside",
        cliponaxis=False,
        hovertemplate=f"%{{y}}: RMSE %{{x:{number_format}}}<extra></extra>",
    )
    return chart(
        "errors",
        "RMSE of the model and of means on the held-out cells",
        [bars],
        xaxis={"title": {"text": "RMSE"}, "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "automargin": True, "ticksuffix": "\N{NO-BREAK SPACE}", "showgrid": False},
        margin={"l": 10, "r": 50, "t": 10, "b": 40},
    )


def _summary(ninety: Coverage, has_ties: bool) -> str:
    too_few, too_many = ninety.randomised_share < ninety.low, ninety.randomised_share > ninety.high
    share = f"The {percent(0.9, 0)} intervals cover {percent(ninety.share)} of the held-out cells"
    too_narrow, too_wide = "fewer than expected: they are too narrow", "more than expected: they are too wide"
    verdict = too_narrow if too_few else too_wide if too_many else "as expected of calibrated intervals"
    if not has_ties:
        return f"{share}, {verdict}."
    return (
        f"{share}. Intervals for discrete values cover more than {percent(0.9, 0)} even if the model is right. With "
        f"ties broken at random, they cover {percent(ninety.randomised_share)}, {verdict}."
    )


def _coverage_table(found: list[Coverage], has_ties: bool) -> PageTable:
    rows = [(percent(level, 0), percent(share), _band(low, high)) for level, share, _, low, high in found]
    if not has_ties:
        return PageTable(("interval", "coverage", "expected"), rows)
    randomised = [(*row[:2], percent(each.randomised_share), row[2]) for row, each in zip(rows, found, strict=True)]
    return PageTable(("interval", "coverage", "ties at random", "expected"), randomised)


def _band(low: float, high: float) -> str:
    return format_interval(f"{100.0 * low:.1f}", percent(high))


def _calibration(curve: list[Coverage]) -> Chart:
    levels, _, shares, lows, highs = (100.0 * np.array(curve)).T
    band = go.Scatter(
        x=np.append(levels, levels[::-1]),
        y=np.append(lows, highs[::-1]),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=with_opacity(GREY, 0.25),
        hoverinfo="skip",
    )
    observed = go.Scatter(
        x=levels,
        y=shares,
        mode="lines+markers",
        line={"color": BLUE, "width": 2},
        hovertemplate="%{x:.0f} % intervals cover %{y:.1f} %<extra></extra>",
    )
    return chart(
        "calibration",
        "Share of held-out cells that the intervals cover, against the probability of the intervals",
        [band, _diagonal(0.0, 100.0), observed],
        xaxis={"title": {"text": "probability of the interval, %"}, "range": [0, 100], "dtick": 20},
        yaxis={"title": {"text": "held-out cells covered, %"}, "range": [0, 100], "dtick": 20},
        margin={"l": 50, "r": 20, "t": 10, "b": 40},
    )


def _scatter(data: ReportData, predictions: CellPredictions, values: Vector, inside: Array) -> Chart:
    """Return a plot of predictions with their intervals against the observed values."""
    cells, *numbers = predictions
    observed, mean, lower, upper = (data.standardise(part, cells.cols) for part in (values, *numbers))
    labels = np.array(
        [
            f"{escape_for_chart(data.row_labels[i])}, {escape_for_chart(data.column_labels[j])}"
            for i, j in zip(*cells, strict=True)
        ]
    )
    hover = f"%{{text}}<br>observed %{{x:{data.number_format}}}, predicted %{{y:{data.number_format}}}<extra></extra>"
    kinds = ((inside, BLUE, "inside the 90 % interval"), (~inside, ORANGE, "outside"))
    points = [
        go.Scatter(
            x=as_float32(observed[which]),
            y=as_float32(mean[which]),
            error_y=_bars(mean[which], lower[which], upper[which], colour),
            mode="markers",
            marker={"color": colour, "size": 5},
            name=name,
            text=labels[which].tolist(),
            hovertemplate=hover,
        )
        for which, colour, name in kinds
    ]
    return chart(
        "scatter",
        "Predicted against observed values of held-out cells, with 90 % intervals",
        [*points, _diagonal(float(observed.min()), float(observed.max()))],
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
        xaxis={"title": {"text": "observed"}},
        yaxis={"title": {"text": "predicted"}, "automargin": True},
    )


def _bars(mean: Vector, lower: Vector, upper: Vector, colour: str) -> dict[str, Any]:
    """Return error bars from means to bounds; the mean of discrete values may lie outside its interval."""
    opacity = min(0.3, 60.0 / max(mean.size, 200))  # many bars overlap
    above, below = as_float32(np.maximum(upper - mean, 0.0)), as_float32(np.maximum(mean - lower, 0.0))
    return {"array": above, "arrayminus": below, "color": with_opacity(colour, opacity), "thickness": 1, "width": 0}


def _diagonal(low: float, high: float) -> Any:
    line = {"color": GREY, "dash": "dot"}
    return go.Scatter(x=[low, high], y=[low, high], mode="lines", line=line, hoverinfo="skip", showlegend=False)
