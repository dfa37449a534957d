"""How good are the predictions, and how honest the intervals, on cells that the fit has not seen?"""

from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from manifill.problem import Observations
from manifill.report.charts import BLUE, GREY, ORANGE, Chart, chart, shade, single
from manifill.report.coverage import Coverage, coverage, covered, ranks
from manifill.report.labels import chart_text
from manifill.report.study import Answer, Cells, Study
from manifill.report.words import Table, percent, span
from manifill.types import Array, Vector

__all__ = ["Accuracy", "accuracy", "judged_cells"]

LEVELS = (0.5, 0.8, 0.9, 0.95)
CURVE = np.arange(0.05, 1.0, 0.05)
MOST_POINTS = 1000


class Accuracy(NamedTuple):
    """The section on accuracy."""

    cells: int
    rmse: str
    ninety: str  # share that 90 % intervals cover
    sentence: str
    errors: Table
    coverage: Table
    calibration: Chart
    scatter: Chart
    shown: int  # points of the scatter
    has_ties: bool  # whether values come in steps


def judged_cells(study: Study) -> Cells:
    """Return held-out cells, some of them at random where there are many."""
    if study.held_out is None:
        return Cells(*np.empty((2, 0), dtype=np.int64))
    rows, cols, _ = study.held_out.triples()
    points = _points(study, rows.size)
    return Cells(rows[points], cols[points])


def accuracy(study: Study, answer: Answer) -> Accuracy | None:
    """Return the section, or None where no cells were held out; ``answer`` is to ``judged_cells``."""
    held_out = study.held_out
    if held_out is None:
        return None
    _, cols, values = held_out.triples()
    found = ranks(study.rng(1), study, held_out)
    errors, ninety = _errors(study, cols, values, found.mean), coverage(found, 0.9)
    points = _points(study, values.size)
    return Accuracy(
        cells=values.size,
        rmse=errors.rows[0][1],
        ninety=percent(ninety.share),
        sentence=_sentence(ninety, found.has_ties),
        errors=errors,
        coverage=_coverage_table([coverage(found, level) for level in LEVELS], found.has_ties),
        calibration=_calibration([coverage(found, float(level)) for level in CURVE]),
        scatter=_scatter(study, answer, values[points], covered(found, 0.9)[points]),
        shown=points.size,
        has_ties=found.has_ties,
    )


def _points(study: Study, size: int) -> Array:
    return np.sort(study.rng(2).permutation(size)[:MOST_POINTS])


def _errors(study: Study, cols: Array, values: Vector, mean: Vector) -> Table:
    """Return errors of the model and of a guess to compare it with."""
    guess = _column_means(study.observations)[cols]
    kinds = [("the model", mean - values), ("filling in the column's mean", guess - values)]
    lines = [_error(name, error, study.form) for name, error in kinds]
    if study.is_scaled:
        lines += [_error(f"{name}, in spreads of columns", e / study.spreads[cols], ".3f") for name, e in kinds]
    return Table((f"errors on {values.size} held-out cells", "RMSE", "MAE"), lines)


def _error(name: str, error: Vector, form: str) -> tuple[str, str, str]:
    return name, f"{np.sqrt(np.mean(error**2)):{form}}", f"{np.mean(np.abs(error)):{form}}"


def _column_means(observations: Observations) -> Vector:
    """Return the mean of each column's observed values, or of all where a column has none, (n,)."""
    cells = observations.by_column
    counts = np.diff(cells.starts)
    sums = np.bincount(cells.lines, cells.values, counts.size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), cells.values.mean())


def _sentence(ninety: Coverage, has_ties: bool) -> str:
    too_few, too_many = ninety.split_share < ninety.low, ninety.split_share > ninety.high
    said = f"The {percent(0.9, 0)} intervals cover {percent(ninety.share)} of the held-out cells"
    if not has_ties:
        judged = "too few: they are too narrow" if too_few else "too many: they are too wide"
        return f"{said}, {judged if too_few or too_many else 'as honest intervals do'}."
    judged = "is too narrow" if too_few else "is too wide" if too_many else "is as wide as it should be"
    return (
        f"{said}. Values come in steps, so they must cover more than {percent(0.9, 0)}; with ties split at random they "
        f"cover {percent(ninety.split_share)}: what the model predicts {judged}."
    )


def _coverage_table(found: list[Coverage], has_ties: bool) -> Table:
    lines = [(percent(level, 0), percent(share), _band(low, high)) for level, share, _, low, high in found]
    if not has_ties:
        return Table(("interval", "covers", "should cover"), lines)
    split = [(*line[:2], percent(each.split_share), line[2]) for line, each in zip(lines, found, strict=True)]
    return Table(("interval", "covers", "with ties split", "which should be"), split)


def _band(low: float, high: float) -> str:
    return span(f"{100.0 * low:.1f}", percent(high))


def _calibration(curve: list[Coverage]) -> Chart:
    levels, _, shares, lows, highs = (100.0 * np.array(curve)).T
    band = go.Scatter(
        x=np.append(levels, levels[::-1]),
        y=np.append(lows, highs[::-1]),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=shade(GREY, 0.25),
        hoverinfo="skip",
    )
    covers = go.Scatter(
        x=levels,
        y=shares,
        mode="lines+markers",
        line={"color": BLUE, "width": 2},
        hovertemplate="%{x:.0f} % intervals cover %{y:.1f} %<extra></extra>",
    )
    return chart(
        "calibration",
        "Share of held-out cells that intervals cover, against the probability of the intervals",
        [band, _diagonal(0.0, 100.0), covers],
        xaxis={"title": {"text": "probability of the interval, %"}, "range": [0, 100], "dtick": 20},
        yaxis={"title": {"text": "held-out cells covered, %"}, "range": [0, 100], "dtick": 20},
        margin={"l": 50, "r": 20, "t": 10, "b": 40},
    )


def _scatter(study: Study, answer: Answer, values: Vector, inside: Array) -> Chart:
    """Draw predictions with their intervals against what was observed."""
    cells, *numbers = answer
    observed, mean, lower, upper = (study.relative(part, cells.cols) for part in (values, *numbers))
    labels = np.array(
        [
            f"{chart_text(study.row_labels[i])}, {chart_text(study.column_labels[j])}"
            for i, j in zip(*cells, strict=True)
        ]
    )
    kinds = ((inside, BLUE, "in the 90 % interval"), (~inside, ORANGE, "outside"))
    drawn = [
        go.Scatter(
            x=single(observed[which]),
            y=single(mean[which]),
            error_y=_bars(mean[which], lower[which], upper[which], colour),
            mode="markers",
            marker={"color": colour, "size": 5},
            name=name,
            text=labels[which].tolist(),
            hovertemplate=f"%{{text}}<br>observed %{{x:{study.form}}}, predicted %{{y:{study.form}}}<extra></extra>",
        )
        for which, colour, name in kinds
    ]
    return chart(
        "scatter",
        "Predicted against observed values of held-out cells, with 90 % intervals",
        [*drawn, _diagonal(float(observed.min()), float(observed.max()))],
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
        xaxis={"title": {"text": "observed"}},
        yaxis={"title": {"text": "predicted"}, "automargin": True},
    )


def _bars(mean: Vector, lower: Vector, upper: Vector, colour: str) -> dict[str, Any]:
    """Return intervals about means; a mean may lie outside where values come in steps."""
    opacity = min(0.3, 60.0 / max(mean.size, 200))  # many bars lie over each other
    above, below = single(np.maximum(upper - mean, 0.0)), single(np.maximum(mean - lower, 0.0))
    return {"array": above, "arrayminus": below, "color": shade(colour, opacity), "thickness": 1, "width": 0}


def _diagonal(low: float, high: float) -> Any:
    line = {"color": GREY, "dash": "dot"}
    return go.Scatter(x=[low, high], y=[low, high], mode="lines", line=line, hoverinfo="skip", showlegend=False)
