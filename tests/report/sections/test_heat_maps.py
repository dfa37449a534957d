import base64
import json
from pathlib import Path

import numpy as np

from manifill.base.arrays import Array
from manifill.report.charts import Chart
from manifill.report.report_data import collect_report_data
from manifill.report.sections.heat_maps import heat_maps, hover_cells
from tests.report.synthetic_runs import synthetic_model

SHAPE = 24, 15


def decoded_map(chart: Chart) -> tuple[Array, Array, tuple[Array, ...]]:
    """Return the values of a heat map, its hover values, and the indices of its rows and columns."""
    figure = json.loads(chart.figure)
    trace, layout = figure["data"][0], figure["layout"]
    rows, columns = ([int(text) for text in layout[axis]["ticktext"]] for axis in ("yaxis", "xaxis"))
    return decoded(trace["z"]), decoded(trace["customdata"]), np.ix_(rows, columns)


def decoded(array: dict[str, str]) -> Array:
    shape = [int(size) for size in array["shape"].split(",")]
    return np.frombuffer(base64.b64decode(array["bdata"]), dtype=array["dtype"]).reshape(shape)


def test_every_cell_is_at_the_position_of_its_labels(tmp_path: Path) -> None:
    model = synthetic_model(tmp_path / "run")
    data = collect_report_data(model, None)
    (predictions,) = data.predict(hover_cells(data))
    maps = heat_maps(data, predictions)
    mean, sd = model.complete()
    table = np.full(SHAPE, np.nan)
    rows, cols, values = model.observations_.triples()
    table[rows, cols] = values

    colours, hover_values, where = decoded_map(maps.completed)
    np.testing.assert_allclose(colours, mean[where], rtol=1e-5)
    for k, part in enumerate((predictions.mean, predictions.lower, predictions.upper)):
        np.testing.assert_allclose(hover_values[..., k], part.reshape(SHAPE)[where], rtol=1e-5)
    colours, hover_values, where = decoded_map(maps.observed)
    np.testing.assert_allclose(colours, table[where], rtol=1e-5)
    np.testing.assert_allclose(hover_values, table[where], rtol=1e-5)
    colours, hover_values, where = decoded_map(maps.uncertainty)
    np.testing.assert_allclose(colours, sd[where], rtol=1e-5)
    np.testing.assert_array_equal(hover_values == 100.0, np.isfinite(table[where]))


def test_hover_values_are_in_the_units_of_the_data(tmp_path: Path) -> None:
    scales = 10.0 ** np.arange(-7, 8)
    data = collect_report_data(synthetic_model(tmp_path / "run", scales=scales), None)
    (predictions,) = data.predict(hover_cells(data))
    colours, hover_values, where = decoded_map(heat_maps(data, predictions).completed)
    np.testing.assert_allclose(hover_values[..., 0], data.mean[where], rtol=1e-5)
    np.testing.assert_allclose(colours.mean(axis=0), 0.0, atol=1e-5)
    assert np.ptp(colours.std(axis=0)) < 10.0
