"""The lists of unobserved cells: neither has a cell whose value is known, be it in the fit or held out of it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from manifill import MatrixCompletion, Observations
from manifill.base.arrays import Array
from manifill.report.report_data import Cells, ReportData, collect_report_data
from manifill.report.sections import prediction_lists as section
from manifill.report.sections.least_certain import least_certain_cells
from manifill.report.sections.prediction_lists import PredictionLists, prediction_lists, top_cells
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations
from tests.report.synthetic_runs import synthetic_model

SHAPE = 24, 4  # of which some rows have no gap


def fitted_and_held_out(folder: Path) -> tuple[MatrixCompletion, Observations]:
    model = synthetic_model(folder, shape=SHAPE, observed=0.7)
    return model, load_observations(RunFolder(folder).held_out)


def unknown_in(*parts: Observations) -> Array:
    """Return the mask of the cells that are in none of the parts."""
    mask = np.ones(SHAPE, dtype=bool)
    for cells in parts:
        mask[cells.triples()[:2]] = False
    return mask


def listed(data: ReportData) -> PredictionLists:
    return prediction_lists(data, *data.predict(top_cells(data)))


@pytest.mark.parametrize("is_given", [True, False])
def test_every_unknown_cell_is_a_prediction_to_look_up_and_no_other(tmp_path: Path, is_given: bool) -> None:
    """Held-out cells that the run stores are known, whether or not they are given for the accuracy."""
    model, held_out = fitted_and_held_out(tmp_path / "run")
    found = np.zeros(SHAPE, dtype=bool)
    found[top_cells(collect_report_data(model, held_out if is_given else None))] = True
    np.testing.assert_array_equal(found, unknown_in(model.observations_, held_out))


@pytest.mark.parametrize("cells_of", [top_cells, least_certain_cells])
def test_held_out_cells_that_are_only_given_are_known_too(
    tmp_path: Path, cells_of: Callable[[ReportData], Cells]
) -> None:
    model, held_out = fitted_and_held_out(tmp_path / "run")
    RunFolder(tmp_path / "run").held_out.unlink()
    rows, cols = cells_of(collect_report_data(model, held_out))
    assert rows.size > 3
    assert unknown_in(model.observations_, held_out)[rows, cols].all()


def test_the_least_certain_unknown_cells_are_listed(tmp_path: Path) -> None:
    model, held_out = fitted_and_held_out(tmp_path / "run")
    data = collect_report_data(model, held_out)
    sd = np.where(unknown_in(model.observations_, held_out), data.sd, 0.0).ravel()
    rows, cols = least_certain_cells(data)
    np.testing.assert_array_equal(rows * SHAPE[1] + cols, np.argsort(-sd)[: rows.size])


def test_rows_with_and_without_gaps_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(section, "MAX_ROWS", 5)
    model, held_out = fitted_and_held_out(tmp_path / "run")
    gaps = unknown_in(model.observations_, held_out).sum(axis=1)
    found = listed(collect_report_data(model, held_out))
    assert (len(found.rows), found.rows_with_gaps, found.full_rows) == (5, np.sum(gaps > 0), np.sum(gaps == 0))
    sizes = [len(table.rows) for _, table in found.rows]
    assert sizes == sorted(gaps[gaps > 0])[:5], "the rows with the most observed cells come first"
