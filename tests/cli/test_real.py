"""What a new user does, on real data where MANIFILL_DATA names their folder, with small settings."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pandas as pd
import pytest

from manifill.cli import main

DATA = os.environ.get("MANIFILL_DATA", "")

pytestmark = pytest.mark.skipif(not DATA, reason="set MANIFILL_DATA to run the command line on real data")

Run: TypeAlias = Callable[..., None]

SMALL = ["--rank", "2", "--chains", "2", "--warmup", "10", "--draws", "12", "--seed", "0", "--quiet"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Return a function that runs a command in an empty folder, and expects a code of it."""
    monkeypatch.chdir(tmp_path)

    def call(line: str, *more: str, code: int = 0) -> None:
        monkeypatch.setattr(sys, "argv", ["manifill", *line.split(), *more])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == code

    return call


def test_movie_ratings(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings = Path(DATA) / "ml-latest-small" / "ratings.csv"
    columns = "--row userId --col movieId --value rating --likelihood binomial --trials 10 --step 0.5 --out run/"
    run(f"fit {ratings} {columns}", *SMALL, code=3)  # ten draws do not converge, and it says so
    pd.read_csv(ratings, nrows=50)[["userId", "movieId"]].to_csv(tmp_path / "pairs.csv", index=False)
    run("predict run/ pairs.csv --interval 0.9 --out predictions.csv")
    predictions = pd.read_csv(tmp_path / "predictions.csv")
    assert list(predictions) == ["userId", "movieId", "mean", "sd", "lower", "upper"]
    assert (predictions["lower"] <= predictions["upper"]).all()
    assert predictions["mean"].between(0.0, 5.0).all()
    capsys.readouterr()
    run("top run/ --row 42 --n 10")
    assert len(capsys.readouterr().out.splitlines()) >= 10
    run("report run/")
    assert (tmp_path / "run" / "report.html").stat().st_size > 1_000_000
    run("diagnose run/", code=3)


def test_protein_levels(run: Run, tmp_path: Path) -> None:
    table = Path(DATA) / "mice-protein" / "Data_Cortex_Nuclear.csv"
    run(f"fit {table} --wide --id MouseID --likelihood softplus --out run/", *SMALL, code=3)
    run("complete run/ --out completed.csv")
    completed, observed = pd.read_csv(tmp_path / "completed.csv"), pd.read_csv(table)
    assert len(completed) == len(observed) == 1080
    assert completed.select_dtypes("number").notna().all(axis=None)
    assert list(completed.iloc[:, 0]) == list(observed["MouseID"])
    run("report run/")
