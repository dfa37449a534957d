"""The worked examples run, with tiny settings."""

import os
import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
TINY = ["--warmup", "12", "--draws", "12"]
ARGUMENTS = {"ratings": ["--rank", "2", *TINY], "proteins": ["--rank", "2", *TINY], "sensors": TINY}


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_example(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if name != "sensors" and not os.environ.get("MANIFILL_DATA"):
        pytest.skip("set MANIFILL_DATA to the folder with ml-latest-small and mice-protein to run this example")
    monkeypatch.setattr(sys, "argv", [name, *ARGUMENTS[name]])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert "RMSE" in capsys.readouterr().out
