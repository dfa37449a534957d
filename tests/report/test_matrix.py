import base64
import json

import numpy as np

from manifill.report.matrix import heat_maps, single_cells
from manifill.report.study import study_of

from .runs import made_up_model

SHAPE = 24, 15


def drawn(chart):
    """Return the heat map of a chart: colours, what the pointer tells, and the rows and columns by their numbers."""
    figure = json.loads(chart.figure)
    trace, layout = figure["data"][0], figure["layout"]
    rows, columns = ([int(text) for text in layout[axis]["ticktext"]] for axis in ("yaxis", "xaxis"))
    return decoded(trace["z"]), decoded(trace["customdata"]), np.ix_(rows, columns)


def decoded(array):
    shape = [int(size) for size in array["shape"].split(",")]
    return np.frombuffer(base64.b64decode(array["bdata"]), dtype=array["dtype"]).reshape(shape)


def test_every_cell_is_where_its_labels_say(tmp_path):
    model = made_up_model(tmp_path / "run")
    study = study_of(model, None)
    (answer,) = study.ask(single_cells(study))
    maps = heat_maps(study, answer)
    mean, sd = model.complete()
    table = np.full(SHAPE, np.nan)
    rows, cols, values = model.observations_.triples()
    table[rows, cols] = values

    colours, told, where = drawn(maps.completed)
    np.testing.assert_allclose(colours, mean[where], rtol=1e-5)
    for k, part in enumerate((answer.mean, answer.lower, answer.upper)):
        np.testing.assert_allclose(told[..., k], part.reshape(SHAPE)[where], rtol=1e-5)
    colours, told, where = drawn(maps.observed)
    np.testing.assert_allclose(colours, table[where], rtol=1e-5)
    np.testing.assert_allclose(told, table[where], rtol=1e-5)
    colours, told, where = drawn(maps.uncertainty)
    np.testing.assert_allclose(colours, sd[where], rtol=1e-5)
    np.testing.assert_array_equal(told == 100.0, np.isfinite(table[where]))


def test_columns_with_units_of_their_own_keep_them_in_what_is_told(tmp_path):
    scales = 10.0 ** np.arange(-7, 8)
    study = study_of(made_up_model(tmp_path / "run", scales=scales), None)
    (answer,) = study.ask(single_cells(study))
    colours, told, where = drawn(heat_maps(study, answer).completed)
    np.testing.assert_allclose(told[..., 0], study.mean[where], rtol=1e-5)
    np.testing.assert_allclose(colours.mean(axis=0), 0.0, atol=1e-5)
    assert np.ptp(colours.std(axis=0)) < 10.0
