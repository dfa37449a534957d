"""``manifill fit --resume`` and the commands that read a run: held-out cells, older formats, damaged checkpoints."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import manifill
from manifill.cli.app import run as run_command
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations
from manifill.run.provenance import fingerprint
from manifill.sampling.factor_gibbs import Factors
from tests.run.runs import files_of, make_older

FIT = ["fit", "wide.csv", "--sampler", "factors", "--rank", "2", "--chains", "2", "--warmup", "20", "--draws", "30"]
FIT += ["--jobs", "1", "--out", "run"]

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command next to wide.csv, and returns its exit code and messages."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 20)) + 0.1 * rng.normal(size=(30, 20))
    values[rng.random(values.shape) < 0.3] = np.nan
    pd.DataFrame(values, columns=[f"c{j}" for j in range(20)]).to_csv("wide.csv", index=False)

    def call(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["manifill", *arguments])
        try:
            code = int(run_command())
        except KeyboardInterrupt:  # after which the command's process exits
            code = 130
        return code, capsys.readouterr().err

    return call


def test_an_interrupted_run_has_its_held_out_cells(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt("in warm-up")

    with monkeypatch.context() as patch:
        patch.setattr(Factors, "step", stop)
        assert run(*FIT)[0] == 130
    folder = RunFolder(tmp_path / "run")
    held_out = load_observations(folder.held_out)
    assert run("fit", "wide.csv", "--resume", "--out", "run", "--quiet")[0] in (0, 3)
    assert fingerprint(load_observations(folder.held_out)) == fingerprint(held_out)
    assert manifill.load("run").observations_.size + held_out.size == pd.read_csv("wide.csv").notna().sum().sum()


def test_what_was_chosen_once_is_not_chosen_again(run: Run) -> None:
    run(*FIT, "--seed", "1")
    for option, said in (
        (["--seed", "2"], "the settings differ: seed was 1 and is 2"),
        (["--holdout", "0.1"], "the held-out cells of run were chosen when the run was started; leave --holdout out"),
    ):
        code, err = run("fit", "wide.csv", "--resume", "--out", "run", *option)
        assert code == 2
        assert said in err.splitlines()[-1]
    assert run("fit", "wide.csv", "--resume", "--out", "run", "--holdout", "0.05", "--quiet")[0] in (0, 3)


def test_a_run_of_another_format_is_not_resumed(run: Run, tmp_path: Path) -> None:
    run(*FIT)
    for number, said in ((2, "it has the format 2"), (9, "has the format 9, and this version of manifill reads")):
        make_older(tmp_path / "run", number)
        before = files_of(tmp_path / "run")
        code, err = run("fit", "wide.csv", "--resume", "--out", "run")
        assert code == 2
        assert said in err.splitlines()[-1]
        assert files_of(tmp_path / "run") == before


@pytest.mark.filterwarnings("default")
def test_a_run_of_the_older_format_is_read_with_a_warning_of_one_line(run: Run, tmp_path: Path) -> None:
    run(*FIT)
    make_older(tmp_path / "run")
    code, err = run("diagnose", "run")
    assert code == 3  # thirty draws are too few
    (line,) = err.splitlines()
    assert line.startswith("manifill: run was written by manifill ")
    assert line.endswith("The run can be read, but not resumed.")


def test_a_damaged_checkpoint_is_named(run: Run, tmp_path: Path) -> None:
    run(*FIT)
    (tmp_path / "run" / "checkpoints" / "chain-0.npz").write_bytes(b"PK")
    before = files_of(tmp_path / "run")
    code, err = run("fit", "wide.csv", "--resume", "--out", "run", "--draws", "60")
    assert code == 2
    assert "chain-0.npz cannot be read" in err.splitlines()[-1]
    assert files_of(tmp_path / "run") == before
