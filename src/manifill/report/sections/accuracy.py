"""Accuracy of the predictions and coverage of their intervals on held-out cells."""

from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from manifill.base.arrays import Array, Vector
from manifill.problem import Observations
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
    rmse: str
    ninety: str  # share of the cells that 90 % intervals cover
    summary: str
    errors: PageTable
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
    errors, ninety = _errors(data, cols, values, found.mean), coverage(found, 0.9)
    points = _scatter_points(data, values.size)
    return Accuracy(
        cells=values.size,
        rmse=errors.rows[0][1],
        ninety=percent(ninety.share),
        summary=_summary(ninety, found.has_ties),
        errors=errors,
        coverage=_coverage_table([coverage(found, level) for level in LEVELS], found.has_ties),
        calibration=_calibration([coverage(found, float(level)) for level in CURVE]),
        scatter=_scatter(data, predictions, values[points], is_covered(found, 0.9)[points]),
        shown=points.size,
        has_ties=found.has_ties,
    )


def _scatter_points(data: ReportData, size: int) -> Array:
    return np.sort(data.rng(2).permutation(size)[:MAX_POINTS])


def _errors(data: ReportData, cols: Array, values: Vector, mean: Vector) -> PageTable:
    """Return the errors of the model and of the baseline that predicts the mean of the column."""
    baseline = _column_means(data.observations)[cols]
    kinds = [("model", mean - values), ("mean of the column", baseline - values)]
    rows = [_error(name, error, data.number_format) for name, error in kinds]
    if data.is_scaled:
        rows += [_error(f"{name}, in units of the column's spread", e / data.spreads[cols], ".3f") for name, e in kinds]
    return PageTable((f"errors on {values.size} held-out cells", "RMSE", "MAE"), rows)


def _error(name: str, error: Vector, number_format: str) -> tuple[str, str, str]:
    rmse, mae = np.sqrt(np.mean(error**2)), np.mean(np.abs(error))
    return name, f"{rmse:{number_format}}", f"{mae:{number_format}}"


def _column_means(observations: Observations) -> Vector:
    """Return the mean of each column's observed values, (n,); the mean of all values for an unobserved column."""
    cells = observations.by_column
    counts = np.diff(cells.starts)
    sums = np.bincount(cells.major_indices, cells.values, counts.size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), cells.values.mean())


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
