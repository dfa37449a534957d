"""Held-out cells are known: ``complete`` keeps their values, and ``top`` ranks other columns only."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import manifill
from manifill.base.arrays import Matrix
from manifill.cli.app import run as run_command
from manifill.posterior import ranking
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations
from tests.estimators.tables import low_rank_table

# Runs of thirty draws are loaded with a warning.
pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

FIT = ["fit", "wide.csv", "--sampler", "factors", "--rank", "2", "--chains", "2", "--warmup", "20", "--draws", "30"]
FIT += ["--column-transform", "none", "--seed", "1", "--jobs", "1", "--out", "run", "--quiet"]

Run = Callable[..., str]


@pytest.fixture
def table() -> Matrix:
    """Return a table in which every column of the first row is observed."""
    full, holes = low_rank_table(30, 20)
    holes[0] = full[0]
    return holes


@pytest.fixture
def run(table: Matrix, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Fit the table with a fifth of its cells held out, and return a function that runs a command."""
    monkeypatch.chdir(tmp_path)
    columns = [f"c{j}" for j in range(table.shape[1])]
    frame = pd.DataFrame(table, columns=columns, index=[f"r{i}" for i in range(len(table))])
    frame.to_csv("wide.csv", index_label="name")

    def call(*arguments: str, code: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["manifill", *arguments])
        assert run_command() == code
        out, err = capsys.readouterr()
        return out if code != 2 else err

    call(*FIT, "--hold-out", "20%", code=3)
    assert load_observations(RunFolder("run").held_out).size == round(0.2 * np.isfinite(table).sum())
    return call


def test_complete_keeps_held_out_values(run: Run, table: Matrix) -> None:
    known = np.isfinite(table)
    completed = pd.read_csv(io.StringIO(run("complete", "run"))).iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(completed[known], table[known])
    np.testing.assert_allclose(completed[~known], np.asarray(manifill.load("run").complete()[0])[~known])
    observed = pd.read_csv(io.StringIO(run("complete", "run", "--long")))["observed"].to_numpy()
    np.testing.assert_allclose(observed.reshape(table.shape), table)


def test_top_leaves_held_out_columns_out(run: Run, table: Matrix) -> None:
    model = manifill.load("run")
    for row in range(1, len(table)):
        unseen = {f"c{j}" for j in np.flatnonzero(np.isnan(table[row]))}
        assert set(model.top(f"r{row}", n=20).columns) == unseen
    listed = json.loads(run("top", "run", "--row", "r1", "--n", "20", "--json"))["top"]
    assert {line["column"] for line in listed} == {f"c{j}" for j in np.flatnonzero(np.isnan(table[1]))}
    assert "row 'r0' has an observation in every column" in run("top", "run", "--row", "r0", code=2)


def test_a_new_fit_has_other_known_cells(run: Run, table: Matrix) -> None:
    model = manifill.load("run")
    assert len(model.known_cells_) == 2
    assert len(model.set_params(path=None, progress=False).fit(table).known_cells_) == 1


def test_figures_of_top_are_those_of_predict(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the columns are ranked by some of the draws only."""
    monkeypatch.setattr(ranking, "ENOUGH_DRAWS", 4)
    listed = pd.DataFrame(json.loads(run("top", "run", "--row", "r4", "--json"))["top"])
    assert len(listed) > 3
    assert listed["mean"].is_monotonic_decreasing
    listed[["column"]].assign(name="r4").to_csv("pairs.csv", index=False)
    predicted = pd.read_csv(io.StringIO(run("predict", "run", "pairs.csv")))
    for figure in ("mean", "sd"):
        np.testing.assert_allclose(listed[figure], predicted[figure], rtol=1e-9)


def test_completed_tables_with_draws_keep_known_values(run: Run, table: Matrix, tmp_path: Path) -> None:
    run("complete", "run", "--draws", "12", "--out", "done.csv", "--quiet")
    files = sorted(tmp_path.glob("done-*.csv"))
    assert [file.name for file in files[::11]] == ["done-01.csv", "done-12.csv"]
    tables = np.array([pd.read_csv(file, index_col="name").to_numpy() for file in files])
    known = ~np.isnan(table)
    np.testing.assert_allclose(tables[:, known], np.broadcast_to(table[known], (12, known.sum())))
    assert np.ptp(tables[:, ~known], axis=0).min() > 0.0
    long = pd.read_csv(io.StringIO(run("complete", "run", "--draws", "12", "--long", "--quiet")))
    assert list(long.columns) == ["draw", "name", "column", "value"]
    np.testing.assert_allclose(long["value"].to_numpy().reshape(tables.shape), tables)


def test_numbered_files_that_exist_are_not_overwritten(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x-2.csv").write_text("mine")
    assert "x-2.csv exists and is not overwritten" in run("complete", "run", "--draws", "3", "--out", "x.csv", code=2)
    assert [file.name for file in tmp_path.glob("x*")] == ["x-2.csv"]
    assert (tmp_path / "x-2.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "message"), [(["--draws", "0", "--out", "x.csv"], "at least 1"), (["--draws", "3"], "name their files")]
)
def test_draws_without_a_place_are_refused(run: Run, options: list[str], message: str, tmp_path: Path) -> None:
    assert message in run("complete", "run", *options, code=2)
    assert not list(tmp_path.glob("x*"))
