"""The command line as people use it: files in, files out, one line for a mistake, and the codes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import pytest

import manifill
from manifill.cli import main

Run: TypeAlias = Callable[..., tuple[str | int | None, str, str]]

# Runs of thirty draws are loaded with a warning.
pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

# Arguments as Python writes them, which the command line calls by other names.
PYTHON_WORDS = re.compile(
    r"\w=|\b(?:column_scales|noise_prior|lambda_|target_acceptance|max_depth|max_draws|max_minutes|held_out|id_column)\b"
)

QUICK = ["--sampler", "factors", "--rank", "2", "--chains", "2", "--warmup", "20", "--draws", "30", "--jobs", "1"]
QUICK += ["--column-transform", "none"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command in an empty folder and returns its code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[str | int | None, str, str]:
        monkeypatch.setattr(sys, "argv", ["manifill", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return call


@pytest.fixture
def wide(tmp_path: Path) -> pd.DataFrame:
    """Write wide.csv: 30 named rows, 20 columns of numbers with holes, and one of text."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 20)) + 0.1 * rng.normal(size=(30, 20))
    values[rng.random(values.shape) < 0.3] = np.nan
    frame = pd.DataFrame(values, columns=[f"c{j}" for j in range(20)])
    frame.insert(0, "name", [f"r{i}" for i in range(30)])
    frame["group"] = ["a", "b"] * 15
    frame.to_csv(tmp_path / "wide.csv", index=False)
    return frame


def test_fit_alone_guesses_says_and_works(run: Run, wide: pd.DataFrame, tmp_path: Path) -> None:
    code, out, err = run("fit", "wide.csv", *QUICK, "--seed", "1")
    assert code == 3  # thirty draws are too few
    assert "Predictions are red: " in out
    assert "Global quantities are red: " in out
    assert "Monte Carlo errors: " in out
    assert "Next: manifill report wide-run" in out
    assert "30 rows named by name" in err
    assert "group" in err
    assert "held out" in err
    assert {path.name for path in (tmp_path / "wide-run").iterdir()} == {
        "checkpoints",
        "data.npz",
        "draws.zarr",
        "held_out.npz",
        "manifest.json",
        "verdict.json",
    }


@pytest.mark.parametrize(
    ("options", "divided"),
    [([], True), (["--column-scales", "none"], False), (["--column-scales", "standardize"], True)],
    ids=str,
)
def test_columns_in_different_units_are_noticed(
    run: Run, wide: pd.DataFrame, tmp_path: Path, options: list[str], divided: bool
) -> None:
    (wide[[f"c{j}" for j in range(20)]] * 10.0 ** (np.arange(20) % 5)).to_csv(tmp_path / "units.csv", index=False)
    _, _, err = run("fit", "units.csv", "--wide", *QUICK, *options)
    assert ("columns are divided by their spreads" in err) == divided
    settings = manifill.load("units-run").posterior_.attributes["settings"]
    assert settings["column_scales"] == (None if "none" in options else (options or ["", "auto"])[1])


def test_what_is_known_beforehand_is_passed_on(run: Run, wide: pd.DataFrame) -> None:
    code, _, err = run(
        "fit", "wide.csv", *QUICK, "--sampler", "gibbs", "--sigma", "0.5", "--lambda", "0.1", "--out", "known"
    )
    assert code in (0, 3), err
    settings = manifill.load("known").posterior_.attributes["settings"]
    assert (settings["sigma"], settings["lambda_"]) == (0.5, 0.1)
    code, _, err = run("fit", "wide.csv", *QUICK, "--sigma", "0.5", "--noise-prior", "paper", "--out", "both")
    assert code == 2
    assert "give one of them" in err


def test_quiet_gives_results_all_the_same(run: Run, wide: pd.DataFrame) -> None:
    run("fit", "wide.csv", *QUICK, "--quiet")
    code, out, err = run("top", "wide-run", "--row", "r3", "--n", "2", "--quiet")
    assert code == 0
    assert len(err.splitlines()) == 1  # thirty draws are too few, which is no note
    assert len(out.splitlines()) == 3


def test_a_first_line_that_is_a_pair_is_no_header(run: Run, wide: pd.DataFrame, tmp_path: Path) -> None:
    run("fit", "wide.csv", *QUICK, "--quiet")
    (tmp_path / "pairs.csv").write_text("r1,c2\nr2,c3\n")
    code, out, err = run("predict", "wide-run", "pairs.csv")
    assert (code, out) == (2, "")
    assert "the first line of pairs.csv is a cell of the run" in err


def test_a_place_that_cannot_be_written_is_refused_first(run: Run, wide: pd.DataFrame) -> None:
    run("fit", "wide.csv", *QUICK, "--quiet")
    for command in (["complete", "wide-run"], ["predict", "wide-run", "nothing.csv"]):
        code, out, err = run(*command, "--out", "no/such/folder.csv")
        assert (code, out) == (2, "")
        assert "no folder no/such" in err


def test_a_run_is_never_cut(run: Run, wide: pd.DataFrame) -> None:
    run("fit", "wide.csv", *QUICK, "--quiet")
    code, out, err = run("fit", "wide.csv", "--out", "wide-run", "--resume", "--draws", "10")
    assert (code, out) == (2, "")
    assert "already has 30 draws per chain requested" in err


def test_the_command_alone_shows_its_help(run: Run) -> None:
    _, out, err = run()
    assert "Usage" in out + err
    assert "manifill: \n" not in err


def test_quiet_says_nothing_and_json_says_facts(run: Run, wide: pd.DataFrame) -> None:
    code, out, err = run("fit", "wide.csv", *QUICK, "--quiet", "--json")
    facts = json.loads(out)
    assert err == ""
    assert (facts["chains"], facts["draws"], facts["converged"], facts["interrupted"]) == (2, 30, False, False)
    code, out, err = run("diagnose", "wide-run", "--json")
    assert code == 3
    assert json.loads(out)["verdict"] == facts["verdict"]


def test_the_same_seed_gives_the_same_run(run: Run, wide: pd.DataFrame, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        run("fit", "wide.csv", *QUICK, "--out", name, "--seed", "1" if name != "three" else "2")
    one, two, three = (manifill.load(tmp_path / name) for name in ("one", "two", "three"))
    np.testing.assert_array_equal(one.posterior_.A[:], two.posterior_.A[:])
    np.testing.assert_array_equal(one.observations_.triples()[2], two.observations_.triples()[2])
    assert not np.array_equal(one.posterior_.A[:], three.posterior_.A[:])


def test_labels_in_labels_out(run: Run, wide: pd.DataFrame, tmp_path: Path) -> None:
    run("fit", "wide.csv", *QUICK, "--holdout", "0", "--out", "run")
    pd.DataFrame({"name": ["r3", "r0"], "column": ["c1", "c19"], "mine": ["x", "y"]}).to_csv("pairs.csv", index=False)
    code, _, err = run("predict", "run", "pairs.csv", "--interval", "0.5", "--out", "predictions.csv")
    assert code == 0
    assert "2 predictions written to predictions.csv" in err
    found = pd.read_csv("predictions.csv")
    assert list(found) == ["name", "column", "mine", "mean", "sd", "lower", "upper"]
    expected = manifill.load(tmp_path / "run").predict(["r3", "r0"], ["c1", "c19"], interval=0.5)
    np.testing.assert_allclose(found["mean"], expected.mean)
    np.testing.assert_allclose(found["upper"], expected.upper)
    code, out, _ = run("predict", "run", "pairs.csv")
    assert out.splitlines()[0] == "name,column,mine,mean,sd,lower,upper"


def test_complete_keeps_what_was_observed(run: Run, wide: pd.DataFrame, tmp_path: Path) -> None:
    run("fit", "wide.csv", *QUICK, "--holdout", "0", "--out", "run")
    assert run("complete", "run", "--out", "completed.csv")[0] == 0
    completed = pd.read_csv("completed.csv")
    assert list(completed) == ["name", *[f"c{j}" for j in range(20)]]
    assert list(completed["name"]) == list(wide["name"])
    given, filled = wide.iloc[:, 1:21].to_numpy(float), completed.iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(filled[~np.isnan(given)], given[~np.isnan(given)])
    mean, sd = map(np.asarray, manifill.load(tmp_path / "run").complete())
    np.testing.assert_allclose(filled[np.isnan(given)], mean[np.isnan(given)])
    assert run("complete", "run", "--long", "--out", "long.parquet")[0] == 0
    long = pd.read_parquet("long.parquet")
    assert list(long) == ["name", "column", "observed", "mean", "sd"]
    assert len(long) == 600
    assert long["observed"].isna().sum() == np.isnan(given).sum()
    np.testing.assert_allclose(long["sd"].to_numpy().reshape(30, 20), sd)


def test_top_ranks_unseen_columns(run: Run, wide: pd.DataFrame) -> None:
    run("fit", "wide.csv", *QUICK, "--holdout", "0", "--out", "run")
    code, out, _ = run("top", "run", "--row", "r4", "--n", "3", "--json")
    assert code == 0
    top = json.loads(out)["top"]
    unseen = set(wide.columns[1:21][wide.iloc[4, 1:21].isna()])
    assert {line["column"] for line in top} <= unseen
    assert [line["mean"] for line in top] == sorted((line["mean"] for line in top), reverse=True)
    assert all(0.0 < line["probability"] <= 1.0 for line in top)
    assert "probability" in run("top", "run", "--row", "r4")[1]


def test_a_run_is_resumed_without_saying_everything_again(run: Run, wide: pd.DataFrame, tmp_path: Path) -> None:
    run("fit", "wide.csv", *QUICK, "--seed", "1", "--out", "run")
    code, *_ = run("fit", "wide.csv", "--out", "run", "--resume", "--draws", "50", "--quiet")
    assert code in (0, 3)
    assert manifill.load(tmp_path / "run").posterior_.draws == 50
    run("fit", "wide.csv", *QUICK, "--seed", "1", "--draws", "50", "--out", "whole")
    resumed, whole = (manifill.load(tmp_path / name).posterior_.A[:] for name in ("run", "whole"))
    np.testing.assert_array_equal(resumed, whole)


AUTO = [*QUICK, "--draws", "auto", "--seed", "1", "--out", "run"]


def test_a_run_draws_until_it_is_green_and_then_no_more(run: Run, wide: pd.DataFrame, tmp_path: Path) -> None:
    code, out, _ = run("fit", "wide.csv", *AUTO, "--json")
    first = json.loads(out)
    assert (code, first["ended_by"], first["interrupted"]) == (0, "green", False)
    code, out, err = run("fit", "wide.csv", "--out", "run", "--resume", "--json")
    again = json.loads(out)
    assert (code, again["draws"], again["ended_by"]) == (0, first["draws"], "green")
    assert f"green already with {first['draws']} draws per chain, so none were added" in err
    assert run("fit", "wide.csv", "--out", "run", "--resume", "--draws", "20")[0] == 2
    more = str(first["draws"] + 10)
    code, out, _ = run("fit", "wide.csv", "--out", "run", "--resume", "--draws", more, "--json")
    assert (json.loads(out)["draws"], json.loads(out)["ended_by"]) == (first["draws"] + 10, "draws")
    assert manifill.load(tmp_path / "run").draws == first["draws"] + 10


def test_a_limit_is_printed_and_can_be_raised(run: Run, wide: pd.DataFrame, tmp_path: Path) -> None:
    code, out, err = run("fit", "wide.csv", *AUTO, "--max-draws", "60", "--max-minutes", "30")
    assert code == 3
    for text in (out, err):
        assert "The limit --max-draws 60 was reached before predictions were green." in text
    assert not PYTHON_WORDS.search(out + err)
    run("report", "run")
    assert "interrupted before the requested" not in (tmp_path / "run" / "report.html").read_text()
    code, out, _ = run("fit", "wide.csv", "--out", "run", "--resume", "--max-draws", "90", "--json")
    assert (code, json.loads(out)["draws"], json.loads(out)["ended_by"]) == (3, 90, "max_draws")
    code, out, _ = run("fit", "wide.csv", "--out", "run", "--resume", "--draws", "100", "--json")
    assert (json.loads(out)["draws"], json.loads(out)["ended_by"]) == (100, "draws")


MISTAKES = {
    "no command": (["bogus"], "No such command 'bogus'"),
    "no file": (["fit"], "Missing argument"),
    "absent file": (["fit", "nowhere.csv"], "nowhere.csv"),
    "bad number": (["fit", "wide.csv", "--rank", "x"], "--rank"),
    "bad choice": (["fit", "wide.csv", "--likelihood", "weibull"], "--likelihood"),
    "rank too high": (["fit", "wide.csv", "--rank", "99"], "--rank 99"),
    "trials missing": (["fit", "wide.csv", "--likelihood", "binomial"], "trials"),
    "absent column": (["fit", "wide.csv", "--row", "nam", "--col", "c1", "--value", "c2"], "name"),
    "share above one": (["fit", "wide.csv", "--hold-out", "1.5"], "--hold-out 1.5 is neither a share"),
    "all cells": (["fit", "wide.csv", "--hold-out", "100%"], "--hold-out 100% is neither a share"),
    "no share": (["fit", "wide.csv", "--hold-out", "some"], "--hold-out some is neither a share"),
    "unknown kind": (["fit", "wide.csv", "--hold-out-by", "user"], "--hold-out-by"),
    "all rows": (["fit", "wide.csv", "--hold-out", "30", "--hold-out-by", "row"], "leaves 0 cells to fit"),
    "known noise of scaled columns": (
        ["fit", "wide.csv", "--column-scales", "standardize", "--sigma", "1", "--lambda", "2"],
        "--column-scales standardize divides the columns by their spreads, so --sigma and --lambda would not be",
    ),
    "no counts": (["fit", "wide.csv", "--likelihood", "poisson"], "the data hold -"),
    "noise by column": (
        ["fit", "wide.csv", "--sampler", "gibbs", "--noise", "column"],
        "--sampler gibbs has one noise for all cells; use --noise shared and --tails normal, or --sampler joint.",
    ),
    "factors of counts": (
        ["fit", "wide.csv", "--sampler", "factors", "--likelihood", "softplus"],
        "--sampler factors supports only the Gaussian likelihood, not 'softplus'; use --sampler joint.",
    ),
    "no draws": (["fit", "wide.csv", "--draws", "0"], "--draws must be 'auto' or a whole number of at least 1, not 0."),
    "odd draws": (["fit", "wide.csv", "--draws", "all"], "--draws must be 'auto' or a whole number of at least 1"),
    "odd warm-up": (["fit", "wide.csv", "--warmup", "1.5"], "--warmup must be 'auto' or a whole number of at least 0"),
    "no limit": (["fit", "wide.csv", "--max-draws", "0"], "--max-draws must be a whole number of at least 1, not 0."),
    "no time": (["fit", "wide.csv", "--max-minutes", "0"], "--max-minutes must be a positive number, not 0.0."),
    "a limit of a number": (
        ["fit", "wide.csv", "--draws", "100", "--max-minutes", "3"],
        "--max-minutes is a limit of --draws auto, and --draws 100 is a fixed number; leave one of them out.",
    ),
    "both": (["fit", "wide.csv", "--resume", "--overwrite"], "--resume continues the run in --out, --overwrite"),
    "no run": (["predict", "nowhere", "wide.csv"], "nowhere is not a manifill run"),
    "resume of nothing sensible": (["fit", "wide.csv", "--resume", "--out", "."], "not a manifill run"),
    "folder in use": (["fit", "wide.csv", "--out", "."], "already exists"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_and_nothing_is_written(name: str, run: Run, wide: pd.DataFrame, tmp_path: Path) -> None:
    arguments, said = MISTAKES[name]
    before = sorted(tmp_path.rglob("*"))
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    last = err.splitlines()[-1]
    assert last.startswith("manifill: ")
    assert said in last
    assert not PYTHON_WORDS.search(last)
    assert "Traceback" not in err
    assert sorted(tmp_path.rglob("*")) == before


def test_mistakes_about_a_run(run: Run, wide: pd.DataFrame) -> None:
    run("fit", "wide.csv", *QUICK, "--seed", "1", "--out", "run")
    pd.DataFrame({"name": ["r3", "nobody"], "column": ["c1", "c1"]}).to_csv("pairs.csv", index=False)
    pd.DataFrame({"name": ["r3"], "column": ["c1"]}).to_csv("good.csv", index=False)
    for arguments, said in (
        (["predict", "run", "pairs.csv", "--out", "p.csv"], "'nobody'"),
        (["predict", "run", "good.csv", "--interval", "2"], "interval"),
        (["top", "run", "--row", "nobody"], "--row nobody is not a row of this run, whose rows are r0, r1, r2, …;"),
        (["top", "run", "--row", "r3", "--n", "0"], "--n must be a whole number of at least 1"),
        (
            ["fit", "wide.csv", "--resume", "--out", "run", "--no-effects"],
            "--effects in the run, but --no-effects here",
        ),
        (
            ["fit", "wide.csv", "--resume", "--out", "run", "--sigma", "2"],
            "no --sigma in the run, but --sigma 2.0 here",
        ),
        (["fit", "wide.csv", "--resume", "--out", "run", "--rank", "1"], "--rank 2 in the run, but --rank 1 here"),
        (["complete", "run", "--out", "c.xlsx"], "xlsx"),
    ):
        code, _, err = run(*arguments)
        assert code == 2, arguments
        assert said in err.splitlines()[-1]
        assert not PYTHON_WORDS.search(err)
    assert not Path("p.csv").exists()


def test_ctrl_c_keeps_what_was_drawn(wide: pd.DataFrame, tmp_path: Path) -> None:
    arguments = [*QUICK, "--draws", "1000000", "--out", "run", "--seed", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "manifill", "fit", "wide.csv", *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr is not None
    while "chain 1 drawing" not in (process.stderr.readline() or pytest.fail("the run ended")):
        pass
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted:" in out
    assert "continue with --resume" in out
    assert manifill.load(tmp_path / "run").posterior_.draws > 1


def test_help_has_examples_and_the_codes(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert "130" in out
    for command in ("fit", "predict", "complete", "top", "report", "diagnose", "demo"):
        assert f"manifill {command}" in run(command, "--help")[1]
    assert run("--version")[1].strip() == manifill.__version__
