"""The matrix as it was observed, as it was completed, and how sure that is: three heat maps side by side."""

from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from manifill.report.charts import Chart, chart, single
from manifill.report.labels import chart_text
from manifill.report.study import Answer, Cells, Study
from manifill.report.tiles import Axis, axis, leading_orders, tile_means, tile_of_each
from manifill.types import Array, Matrix

__all__ = ["HeatMaps", "heat_maps", "single_cells"]

# A matrix of no more cells than this is shown cell by cell; of larger ones neighbours share a tile.
MOST_CELLS, MOST_TILES = 20_000, 150

# Beyond these numbers and lengths, labels would cover each other.
MOST_LABELS, LONGEST_LABEL = 30, 12

SIGNED, UNSIGNED, UNSURE = "RdBu_r", "Viridis", "YlOrRd"
COLOUR_BAR = {"orientation": "h", "thickness": 10, "y": -0.04, "yanchor": "top", "nticks": 6, "outlinewidth": 0}


class HeatMaps(NamedTuple):
    """The section on the matrix."""

    observed: Chart
    completed: Chart
    uncertainty: Chart
    is_binned: bool
    rows_per_tile: int
    columns_per_tile: int


class Picture(NamedTuple):
    """What the three maps share: which cells are where, and what rows and columns of the picture are called."""

    rows: Axis
    columns: Axis
    row_texts: list[str]
    column_texts: list[str]
    is_binned: bool

    def means(self, matrix: Array) -> Matrix:
        """Return the mean of each tile."""
        return tile_means(matrix, self.rows, self.columns)


class Layer(NamedTuple):
    """What one map shows: colours, and what the pointer tells of a tile beside its labels."""

    values: Matrix
    colours: dict[str, Any]
    told: Array
    hover: str


def single_cells(study: Study) -> Cells:
    """Return all cells, row by row, where the maps show each by itself; none where they share tiles."""
    m, n = study.mean.shape
    return Cells(*np.divmod(np.arange(m * n if m * n <= MOST_CELLS else 0), n))


def heat_maps(study: Study, answer: Answer) -> HeatMaps:
    """Return the section; ``answer`` is to ``single_cells``."""
    picture = _picture(study)
    completed, sd = picture.means(study.relative(study.mean)), picture.means(study.sd / study.spreads)
    colours = _colours(completed)
    filled = _completed(study, picture, answer, completed, sd, colours)
    return HeatMaps(
        observed=_map("observed", "Observed values", study, picture, _observed(study, picture, colours)),
        completed=_map("completed", "Completed matrix", study, picture, filled),
        uncertainty=_map("uncertainty", "Standard deviations", study, picture, _uncertainty(study, picture, sd)),
        is_binned=picture.is_binned,
        rows_per_tile=int(picture.rows.sizes.max()),
        columns_per_tile=int(picture.columns.sizes.max()),
    )


def _picture(study: Study) -> Picture:
    m, n = study.mean.shape
    is_binned = m * n > MOST_CELLS
    deviations = (study.mean - study.mean.mean(axis=0)) / study.spreads
    rows, columns = (axis(order, MOST_TILES if is_binned else order.size) for order in leading_orders(deviations))
    return Picture(rows, columns, _texts(study.row_labels, rows), _texts(study.column_labels, columns), is_binned)


def _texts(labels: list[str], lines: Axis) -> list[str]:
    """Return the label of each line, or the first and the last label in each tile."""
    ends = zip(lines.order[lines.starts], lines.order[lines.starts + lines.sizes - 1], lines.sizes, strict=True)
    return [
        chart_text(labels[first] if size == 1 else f"{labels[first]} … {labels[last]} ({size})")
        for first, last, size in ends
    ]


def _colours(completed: Matrix) -> dict[str, Any]:
    """Return a scale of colours for values: white at zero where they have both signs."""
    low, high = (float(bound) for bound in np.quantile(completed, (0.01, 0.99)))
    if low < 0.0 < high:
        limit = max(-low, high)
        return {"colorscale": SIGNED, "zmin": -limit, "zmax": limit}
    return {"colorscale": UNSIGNED, "zmin": low, "zmax": high}


def _observed(study: Study, picture: Picture, colours: dict[str, Any]) -> Layer:
    """Show the mean of the observed values in each tile, and nothing where there are none."""
    rows, cols, values = study.observations.triples()
    shape = picture.rows.starts.size, picture.columns.starts.size
    tiles = tile_of_each(picture.rows)[rows] * shape[1] + tile_of_each(picture.columns)[cols]
    counts = np.bincount(tiles, minlength=shape[0] * shape[1])
    means, own = (
        np.where(counts > 0, np.bincount(tiles, part, counts.size) / np.maximum(counts, 1), np.nan).reshape(shape)
        for part in (study.relative(values, cols), values)
    )
    if picture.is_binned:
        hover = f"%{{z:{study.form}}}, the mean of %{{customdata}} observed"
        return Layer(means, colours, counts.reshape(shape), hover)
    return Layer(means, colours, single(own), f"observed: %{{customdata:{study.form}}}")


def _completed(
    study: Study, picture: Picture, answer: Answer, completed: Matrix, sd: Matrix, colours: dict[str, Any]
) -> Layer:
    """Show the means; of single cells, the pointer tells the interval too."""
    if picture.is_binned:
        hover = f"%{{z:{study.form}}} on average<br>sd %{{customdata:{study.form}}} on average"
        return Layer(completed, colours, single(sd), hover)
    told = np.column_stack([answer.mean, answer.lower, answer.upper]).reshape(*completed.shape, 3)
    told = told[np.ix_(picture.rows.order, picture.columns.order)]
    mean, lower, upper = (f"%{{customdata[{k}]:{study.form}}}" for k in range(3))
    return Layer(completed, colours, single(told), f"{mean}<br>90 %: {lower} to {upper}")


def _uncertainty(study: Study, picture: Picture, sd: Matrix) -> Layer:
    """Show standard deviations; the pointer tells how much was observed."""
    low, high = (float(bound) for bound in np.quantile(sd, (0.01, 0.99)))
    share = 100.0 * (1.0 - picture.means(study.unobserved))
    colours = {"colorscale": UNSURE, "zmin": low, "zmax": high}
    return Layer(sd, colours, single(share), f"sd %{{z:{study.form}}}<br>%{{customdata:.0f}} % observed")


def _map(name: str, says: str, study: Study, picture: Picture, layer: Layer) -> Chart:
    trace = go.Heatmap(
        z=single(layer.values),
        customdata=layer.told,
        hovertemplate=f"<b>%{{y}}</b>, <b>%{{x}}</b><br>{layer.hover}<extra></extra>",
        hoverongaps=False,
        colorbar=COLOUR_BAR,
        **layer.colours,
    )
    return chart(
        name,
        says,
        [trace],
        xaxis=_ticks(picture.column_texts, study.names.column) | {"side": "top"},
        yaxis=_ticks(picture.row_texts, study.names.row) | {"autorange": "reversed"},
        margin={"l": 30, "r": 10, "t": 30, "b": 40},
    )


def _ticks(texts: list[str], name: str) -> dict[str, Any]:
    """Return an axis whose ticks are these texts, which the pointer tells; they are drawn where there is room."""
    has_room = len(texts) <= MOST_LABELS and max(map(len, texts)) <= LONGEST_LABEL
    return {
        "title": {"text": chart_text(name), "standoff": 5},
        "tickmode": "array",
        "tickvals": list(range(len(texts))),
        "ticktext": texts,
        "showticklabels": has_room,
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
        "automargin": has_room,
    }
