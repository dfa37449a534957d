"""``--hold-out`` and ``--hold-out-by``: what is held out, what is printed about it, and that it stays the same."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from manifill.cli.app import run as run_command
from manifill.cli.hold_out import HoldOut, hold_out_before, parse_hold_out
from manifill.problem import Observations
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations

QUICK = ["--sampler", "factors", "--rank", "2", "--chains", "2", "--warmup", "20", "--draws", "30", "--jobs", "1"]
QUICK += ["--column-transform", "none", "--seed", "1"]

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command next to wide.csv and returns its exit code, output and messages."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 20)) + 0.1 * rng.normal(size=(30, 20))
    values[rng.random(values.shape) < 0.3] = np.nan
    frame = pd.DataFrame(values, columns=[f"c{j}" for j in range(20)], index=[f"r{i}" for i in range(30)])
    frame.to_csv("wide.csv", index_label="name")
    frame.iloc[:10, :12].to_csv("small.csv", index_label="name")

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["manifill", *arguments])
        return int(run_command()), *capsys.readouterr()

    return call


def cells_of(folder: str) -> tuple[Observations, Observations]:
    run = RunFolder(folder)
    return load_observations(run.data), load_observations(run.held_out)


def test_whole_rows_are_held_out_and_reported_as_such(run: Run) -> None:
    code, out, err = run("fit", "wide.csv", *QUICK, "--hold-out", "20%", "--hold-out-by", "row", "--out", "run")
    assert code == 3
    train, held_out = cells_of("run")
    rows = np.unique(held_out.triples()[0])
    assert rows.size == 6
    assert not np.isin(train.triples()[0], rows).any()
    assert f"{held_out.size} of them held out, all of 6 rows" in err
    assert "this is the accuracy for new rows." in out
    assert run("report", "run", "--quiet")[0] == 0
    assert "this is the accuracy for new rows." in Path("run/report.html").read_text(encoding="utf-8")
    assert run("fit", "wide.csv", "--out", "run", "--resume", "--draws", "40", "--quiet")[0] == 3
    assert np.array_equal(cells_of("run")[1].triples()[2], held_out.triples()[2])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--hold-out", "3", "--hold-out-by", "column"], "all of 3 columns"),
        (["--hold-out", "0.1", "--hold-out-by", "block"], "in 9 rows and 6 columns"),
        (["--hold-out", "1"], "1 of them held out;"),
        (["--holdout", "0"], "none of them held out;"),
    ],
    ids=str,
)
def test_other_kinds_are_described(run: Run, options: list[str], said: str) -> None:
    code, _, err = run("fit", "wide.csv", *QUICK, *options, "--out", "run")
    assert code == 3, err
    assert said in err


def test_a_small_table_is_divided_only_on_request(run: Run) -> None:
    _, _, err = run("fit", "small.csv", *QUICK, "--out", "default")
    assert "none of them held out, since there are fewer than 200" in err
    run("fit", "small.csv", *QUICK, "--hold-out", "5%", "--out", "asked")
    train, held_out = cells_of("asked")
    assert held_out.size == round(0.05 * (train.size + held_out.size))


def test_the_result_compares_the_model_with_means(run: Run) -> None:
    _, out, _ = run("fit", "wide.csv", *QUICK, "--hold-out", "10%", "--out", "my run")
    predictions, whole, *lines = out.splitlines()
    assert predictions.startswith("Predictions are ")
    assert whole.startswith("Global quantities are ")
    assert lines[0].split()[:2] == ["On", str(cells_of("my run")[1].size)]
    assert lines[0].endswith("RMSE       MAE")
    assert [line.split("  ")[1] for line in lines[1:4]] == ["model", "row and column means", "column means"]
    assert lines[4].startswith("The RMSE of the model is ")
    assert lines[-1] == "Next: manifill report 'my run'"
    _, out, _ = run("fit", "wide.csv", *QUICK, "--hold-out", "10%", "--out", "other", "--json")
    facts = json.loads(out)["held_out"]
    assert facts["model"]["rmse"] < facts["row_and_column_means"]["rmse"]
    assert set(facts["column_means"]) == {"rmse", "mae"}


@pytest.mark.parametrize(
    ("text", "amount"), [("5%", 0.05), ("0.05", 0.05), ("0.5%", 0.005), ("200", 200.0), ("1", 1.0), ("0", 0.0)]
)
def test_amounts(text: str, amount: float) -> None:
    assert parse_hold_out(text, "cell", is_default=False) == HoldOut(amount, "cell")


@pytest.mark.parametrize("text", ["", "%", "-5%", "nan", "inf", "1.5", "100%", "250%", "5 cells"])
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match="nor a whole number of columns"):
        parse_hold_out(text, "column", is_default=False)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"hold_out": {"amount": 0.2, "by": "row"}}, (0.2, "row")),
        ({"holdout": 0.05}, (0.05, "cell")),  # as runs before --hold-out-by stored it
        ({}, (0.0, "cell")),
    ],
)
def test_what_a_run_held_out(attributes: dict[str, Any], expected: tuple[float, str]) -> None:
    assert hold_out_before(attributes)[:2] == expected


def test_a_report_goes_where_it_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("fit", "wide.csv", *QUICK, "--out", "my run", "--quiet")
    code, _, err = run("report", "my run", "--out", "page.html")
    assert code == 0
    assert "report written to page.html" in err
    assert not Path("my run/report.html").exists()
    monkeypatch.setattr("manifill.cli.report.os.access", lambda path, mode: (str(path), mode) != ("my run", os.W_OK))
    code, _, err = run("report", "my run")
    assert code == 2
    assert err.splitlines()[-1].endswith("read-only; write it elsewhere: manifill report 'my run' --out FILE")
    for out, said in (("no/such/page.html", "no folder no/such"), ("my run", "my run is a folder")):
        code, _, err = run("report", "my run", "--out", out)
        assert code == 2
        assert said in err
    assert run("report", "nowhere")[0] == 2
