"""Three heat maps: the observed values, the completed matrix, and its standard deviations."""

from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from manifill.base.arrays import Array, Matrix
from manifill.report.charts import Chart, as_float32, chart
from manifill.report.display_labels import escape_for_chart
from manifill.report.report_data import CellPredictions, Cells, ReportData
from manifill.report.tiles import TiledAxis, leading_orders, tile_means, tile_of_each, tiled_axis

__all__ = ["HeatMaps", "heat_maps", "hover_cells"]

# A matrix of at most MAX_CELLS cells is shown cell by cell; a larger one in at most MAX_TILES × MAX_TILES tiles.
MAX_CELLS, MAX_TILES = 20_000, 150

# More or longer tick labels would overlap.
MAX_LABELS, MAX_LABEL_LENGTH = 30, 12

SIGNED, UNSIGNED, UNCERTAINTY = "RdBu_r", "Viridis", "YlOrRd"
COLOUR_BAR = {"orientation": "h", "thickness": 10, "y": -0.04, "yanchor": "top", "nticks": 6, "outlinewidth": 0}


class HeatMaps(NamedTuple):
    """The section on the matrix."""

    observed: Chart
    completed: Chart
    uncertainty: Chart
    is_binned: bool
    rows_per_tile: int
    columns_per_tile: int


class Grid(NamedTuple):
    """The tiles that the three maps share, and the texts of their rows and columns."""

    rows: TiledAxis
    columns: TiledAxis
    row_texts: list[str]
    column_texts: list[str]
    is_binned: bool

    def means(self, matrix: Array) -> Matrix:
        """Return the mean of each tile."""
        return tile_means(matrix, self.rows, self.columns)


class Layer(NamedTuple):
    """The contents of one map: values, colour scale, and the text that is shown on hover."""

    values: Matrix
    colours: dict[str, Any]
    hover_values: Array
    hover_template: str


def hover_cells(data: ReportData) -> Cells:
    """Return the cells whose intervals are shown on hover: all, row by row, or none if cells share tiles."""
    m, n = data.mean.shape
    return Cells(*np.divmod(np.arange(m * n if m * n <= MAX_CELLS else 0), n))


def heat_maps(data: ReportData, predictions: CellPredictions) -> HeatMaps:
    """Return the section; ``predictions`` are for ``hover_cells``."""
    grid = _grid(data)
    completed, sd = grid.means(data.standardise(data.mean)), grid.means(data.sd / data.spreads)
    colours = _colours(completed)
    filled = _completed(data, grid, predictions, completed, sd, colours)
    return HeatMaps(
        observed=_map("observed", "Observed values", data, grid, _observed(data, grid, colours)),
        completed=_map("completed", "Completed matrix", data, grid, filled),
        uncertainty=_map("uncertainty", "Standard deviations", data, grid, _uncertainty(data, grid, sd)),
        is_binned=grid.is_binned,
        rows_per_tile=int(grid.rows.sizes.max()),
        columns_per_tile=int(grid.columns.sizes.max()),
    )


def _grid(data: ReportData) -> Grid:
    m, n = data.mean.shape
    is_binned = m * n > MAX_CELLS
    deviations = (data.mean - data.mean.mean(axis=0)) / data.spreads
    rows, columns = (tiled_axis(order, MAX_TILES if is_binned else order.size) for order in leading_orders(deviations))
    return Grid(rows, columns, _texts(data.row_labels, rows), _texts(data.column_labels, columns), is_binned)


def _texts(labels: list[str], axis: TiledAxis) -> list[str]:
    """Return the label of each row or column, or the first and the last label of each tile."""
    ends = zip(axis.order[axis.starts], axis.order[axis.starts + axis.sizes - 1], axis.sizes, strict=True)
    return [
        escape_for_chart(labels[first] if size == 1 else f"{labels[first]} … {labels[last]} ({size})")
        for first, last, size in ends
    ]


def _colours(completed: Matrix) -> dict[str, Any]:
    """Return the colour scale of the values, which is white at zero if they have both signs."""
    low, high = (float(bound) for bound in np.quantile(completed, (0.01, 0.99)))
    if low < 0.0 < high:
        limit = max(-low, high)
        return {"colorscale": SIGNED, "zmin": -limit, "zmax": limit}
    return {"colorscale": UNSIGNED, "zmin": low, "zmax": high}


def _observed(data: ReportData, grid: Grid, colours: dict[str, Any]) -> Layer:
    """Return the mean of the observed values in each tile, NaN if there are none."""
    rows, cols, values = data.observations.triples()
    shape = grid.rows.starts.size, grid.columns.starts.size
    tiles = tile_of_each(grid.rows)[rows] * shape[1] + tile_of_each(grid.columns)[cols]
    counts = np.bincount(tiles, minlength=shape[0] * shape[1])
    means, in_data_units = (
        np.where(counts > 0, np.bincount(tiles, part, counts.size) / np.maximum(counts, 1), np.nan).reshape(shape)
        for part in (data.standardise(values, cols), values)
    )
    if grid.is_binned:
        hover = f"%{{z:{data.number_format}}} on average<br>observed cells: %{{customdata}}"
        return Layer(means, colours, counts.reshape(shape), hover)
    return Layer(means, colours, as_float32(in_data_units), f"observed: %{{customdata:{data.number_format}}}")


def _completed(
    data: ReportData, grid: Grid, predictions: CellPredictions, completed: Matrix, sd: Matrix, colours: dict[str, Any]
) -> Layer:
    """Return the predictive means; single cells also show their intervals on hover."""
    if grid.is_binned:
        hover = f"%{{z:{data.number_format}}} on average<br>sd %{{customdata:{data.number_format}}} on average"
        return Layer(completed, colours, as_float32(sd), hover)
    values = np.column_stack([predictions.mean, predictions.lower, predictions.upper]).reshape(*completed.shape, 3)
    values = values[np.ix_(grid.rows.order, grid.columns.order)]
    mean, lower, upper = (f"%{{customdata[{k}]:{data.number_format}}}" for k in range(3))
    return Layer(completed, colours, as_float32(values), f"{mean}<br>90 %: {lower} to {upper}")


def _uncertainty(data: ReportData, grid: Grid, sd: Matrix) -> Layer:
    """Return the standard deviations; the share of observed cells is shown on hover."""
    low, high = (float(bound) for bound in np.quantile(sd, (0.01, 0.99)))
    share = 100.0 * (1.0 - grid.means(data.unobserved))
    colours = {"colorscale": UNCERTAINTY, "zmin": low, "zmax": high}
    return Layer(sd, colours, as_float32(share), f"sd %{{z:{data.number_format}}}<br>%{{customdata:.0f}} % observed")


def _map(name: str, description: str, data: ReportData, grid: Grid, layer: Layer) -> Chart:
    trace = go.Heatmap(
        z=as_float32(layer.values),
        customdata=layer.hover_values,
        hovertemplate=f"<b>%{{y}}</b>, <b>%{{x}}</b><br>{layer.hover_template}<extra></extra>",
        hoverongaps=False,
        colorbar=COLOUR_BAR,
        **layer.colours,
    )
    return chart(
        name,
        description,
        [trace],
        xaxis=_ticks(grid.column_texts, data.names.column) | {"side": "top"},
        yaxis=_ticks(grid.row_texts, data.names.row) | {"autorange": "reversed"},
        margin={"l": 30, "r": 10, "t": 30, "b": 40},
    )


def _ticks(texts: list[str], name: str) -> dict[str, Any]:
    """Return an axis with these tick labels, which are shown on hover, and on the axis if they fit."""
    has_room = len(texts) <= MAX_LABELS and max(map(len, texts)) <= MAX_LABEL_LENGTH
    return {
        "title": {"text": escape_for_chart(name), "standoff": 5},
        "tickmode": "array",
        "tickvals": list(range(len(texts))),
        "ticktext": texts,
        "showticklabels": has_room,
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
        "automargin": has_room,
    }
