"""Verdicts by use and their exit codes, on synthetic runs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from manifill.cli.app import run as run_command
from tests.report.synthetic_runs import synthetic_run

DRAWS = 400

# How far chains are apart: in nothing, in the log density alone, in every cell.
RUNS: dict[str, dict[str, Any]] = {"green": {}, "nuisance": {"nuisance": 3.0}, "red": {"stuck": 3.0}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the runs."""
    path = tmp_path_factory.mktemp("runs")
    for name, faults in RUNS.items():
        synthetic_run(path / name, draws=DRAWS, **faults)
    return path


@pytest.mark.parametrize(
    ("name", "code", "strict"), [("green", 0, 0), ("nuisance", 0, 3), ("red", 3, 3)], ids=list(RUNS)
)
def test_exit_codes_are_about_predictions_unless_strict(
    folder: Path,
    name: str,
    code: int,
    strict: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for options, expected in (([], code), (["--strict"], strict)):
        monkeypatch.setattr(sys, "argv", ["manifill", "diagnose", str(folder / name), *options])
        assert run_command() == expected
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith(f"Predictions are {'red' if name == 'red' else 'green'}: ")
        (whole,) = (line for line in lines if line.startswith("Global quantities are "))
        assert whole.startswith(f"Global quantities are {'green' if name == 'green' else 'red'}: ")
        assert ("(take more --warmup)" in whole) == (name != "green")


def test_json_has_both_verdicts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["manifill", "diagnose", str(folder / "nuisance"), "--json"])
    assert run_command() == 0
    fields = json.loads(capsys.readouterr().out)
    assert fields["converged"]
    assert fields["predictions"] == {"colour": "green", "reasons": []}
    assert fields["global_quantities"]["colour"] == "red"
    assert "in lp" in fields["global_quantities"]["reasons"][0]
    assert fields["reasons"] == []
    names = [quantity["name"] for quantity in fields["quantities"]]
    assert {"held-out squared error", "held-out log density", "sigma", "mu", "lp"} <= set(names)
