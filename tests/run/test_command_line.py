"""``manifill fit --resume`` and the commands that read a run: held-out cells, older formats, damaged files."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import manifill
from manifill.cli.app import run as run_command
from manifill.run import chains_to_draws
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations
from manifill.run.provenance import fingerprint
from manifill.sampling.factor_gibbs import Factors
from tests.run.runs import files_of, make_older

# Runs of thirty draws are loaded with a warning.
pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

FIT = ["fit", "wide.csv", "--sampler", "factors", "--rank", "2", "--chains", "2", "--warmup", "20", "--draws", "30"]
FIT += ["--column-transform", "none", "--noise", "shared", "--jobs", "1", "--out", "run"]

Run = Callable[..., tuple[int, str]]

COMMANDS: dict[str, list[str]] = {
    "predict": ["predict", "run", "pairs.csv"],
    "complete": ["complete", "run"],
    "top": ["top", "run", "--row", "3"],
    "report": ["report", "run"],
    "diagnose": ["diagnose", "run"],
}


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
        (["--seed", "2"], "the seed is 1 in the run and 2 here"),
        (["--hold-out", "10%"], "the held-out cells of run were chosen when the run was started; leave --hold-out out"),
        (["--hold-out-by", "row"], "leave --hold-out-by out"),
    ):
        code, err = run("fit", "wide.csv", "--resume", "--out", "run", *option)
        assert code == 2
        assert said in err.splitlines()[-1]
    assert run("fit", "wide.csv", "--resume", "--out", "run", "--hold-out", "5%", "--quiet")[0] in (0, 3)


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


def test_resume_without_a_run_is_refused(run: Run, tmp_path: Path) -> None:
    code, err = run(*FIT, "--resume")
    assert (code, err) == (
        2,
        "manifill: run does not exist, so it cannot be resumed; leave --resume out to begin a run.\n",
    )
    (tmp_path / "run").mkdir()
    assert "run is empty, so it cannot be resumed; leave --resume out" in run(*FIT, "--resume")[1]
    assert not any((tmp_path / "run").iterdir())
    (tmp_path / "run" / "checkpoints").mkdir()
    refused = 2, "manifill: run holds no run, so it cannot be resumed; leave --resume out to begin a run.\n"
    assert run(*FIT, "--resume") == refused
    (tmp_path / "run" / "checkpoints" / "run.lock").touch()
    assert run(*FIT, "--resume") == refused
    assert run(*FIT, "--quiet")[0] in (0, 3)


def test_an_interrupt_before_the_run_begins_is_followed_by_another_fit(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt("interrupted")

    with monkeypatch.context() as patch:
        patch.setattr(chains_to_draws, "create_store", stop)
        patch.setattr(sys, "argv", ["manifill", *FIT, "--quiet"])
        with pytest.raises(KeyboardInterrupt, match=r"^interrupted before the run began; fit again$"):
            run_command()
    assert files_of(tmp_path / "run") == {}
    assert "leave --resume out" in run(*FIT, "--resume")[1]
    assert run(*FIT, "--quiet")[0] in (0, 3)


def test_a_run_is_replaced_by_name(run: Run, tmp_path: Path) -> None:
    run(*FIT, "--seed", "1")
    before = files_of(tmp_path / "run")
    code, err = run(*FIT, "--seed", "2")
    assert code == 2
    assert "already exists; choose another folder, resume the run in it (--resume), or replace it (--overwrite)." in err
    for wrong in (["--overwrite", "--resume"], ["--overwrite", "--rank", "99"], ["--overwrite", "--hold-out", "1.5"]):
        assert run(*FIT, *wrong)[0] == 2
    assert files_of(tmp_path / "run") == before
    assert run(*FIT, "--seed", "2", "--overwrite", "--quiet")[0] in (0, 3)
    assert manifill.load("run").posterior_.attributes["seed"] == 2


@pytest.fixture
def damaged(run: Run, tmp_path: Path) -> Path:
    """Make a run and pairs to predict, damage a chunk of its chain 1, and return the chunk's path."""
    run(*FIT, "--seed", "1")
    pd.DataFrame({"row": [1, 2], "column": ["c1", "c2"]}).to_csv("pairs.csv", index=False)
    file = Path("run", "draws.zarr", "posterior", "B", "c", "1", "0", "0", "0")
    flip(file)
    return file


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.filterwarnings("default::manifill.estimators.loading.DamagedRunWarning")
def test_damage_is_one_line_and_the_other_chains_remain(
    command: str, run: Run, damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, err = run(*COMMANDS[command])
    assert code == 2
    assert err.splitlines()[-1] == (
        f"manifill: {damaged} is damaged: its checksum does not match; restore it from a copy, or leave its chain "
        "out with --skip-damaged."
    )
    code, err = run(*COMMANDS[command], "--skip-damaged")
    assert code == (3 if command == "diagnose" else 0)
    assert "manifill: chain 2 of run is left out because of damaged files; 1 chain remains." in err


@pytest.mark.parametrize("name", ["data.npz", "held_out.npz", "manifest.json", "draws.zarr/posterior/A/zarr.json"])
def test_damage_to_any_other_file_is_one_line_for_every_command(name: str, run: Run, damaged: Path) -> None:
    flip(damaged)  # back again
    flip(Path("run", name))
    for command in (*COMMANDS.values(), [*FIT, "--resume"], [*FIT, "--resume", "--draws", "90"]):
        code, err = run(*command)
        last = err.splitlines()[-1]
        assert code == 2
        assert f"run/{name} is damaged: its checksum does not match; restore it from a copy, or fit again." in last


def test_verify_lists_damaged_files(run: Run, damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("run", "checkpoints", "chain-0.npz").unlink()
    command = [sys.executable, "-m", "manifill", "diagnose", "run", "--verify"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.splitlines() == [
        "run/checkpoints/chain-0.npz is missing",
        f"{damaged} is damaged: its checksum does not match",
    ]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False, env=dict(os.environ))
    found = json.loads(done.stdout)
    assert (done.returncode, found["intact"], found["has_checksums"]) == (2, False, True)
    assert found["damage"][1] == {
        "file": str(damaged),
        "problem": "is damaged: its checksum does not match",
    }


def test_verify_says_that_a_run_is_intact(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run(*FIT)
    command = [sys.executable, "-m", "manifill", "diagnose", "run", "--verify"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"All {len(files_of(Path('run')))} files of run are intact.\n"
    assert run("diagnose", "nowhere", "--verify") == (
        2,
        "manifill: nowhere is not a manifill run; give the folder that a fit was written to.\n",
    )
