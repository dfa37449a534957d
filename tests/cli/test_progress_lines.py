"""What commands show of their progress where there is no terminal: a count, and the time left for the whole command."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import pytest

from manifill.cli import main

Run: TypeAlias = Callable[..., list[str]]

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

QUICK = ["--sampler", "factors", "--rank", "2", "--chains", "2", "--warmup", "2", "--draws", "5", "--jobs", "1"]
ROWS, COLUMNS, CELLS = 2000, 100, 60_000


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command in a folder with a table and returns the lines about its progress."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("manifill.base.progress_display.SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr("manifill.base.progress_display.SECONDS_BETWEEN_UPDATES", 0.005)
    rng = np.random.default_rng(0)
    rows, cols = np.divmod(rng.choice(ROWS * COLUMNS, size=CELLS, replace=False), COLUMNS)
    frame = pd.DataFrame({"row": rows, "column": cols, "value": rng.normal(size=CELLS)})
    frame.to_csv("long.csv", index=False)
    frame.iloc[:10].to_csv("pairs.csv", index=False)

    def call(*arguments: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", ["manifill", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code in (0, 3)
        return [line.removeprefix("manifill: ") for line in capsys.readouterr().err.splitlines()]

    return call


def has(lines: list[str], pattern: str) -> bool:
    return any(re.fullmatch(pattern, line) for line in lines)


def test_every_phase_has_a_count_and_the_time_left(run: Run) -> None:
    lines = run("fit", "long.csv", "--out", "run", *QUICK)
    assert has(lines, r"reading long\.csv: [1-9] of 6 MB, 0 s \([a-z]+\), perhaps .* left.*"), lines[:20]
    assert has(lines, r"sorting cells: [0-9] of 5 steps, 0 s, perhaps .* left.*")
    assert has(lines, r"writing data\.npz: [0-9.]+ of 1 MB, 0 s, perhaps .* left.*")
    before = lines[: next(k for k, line in enumerate(lines) if line.startswith("chain 1"))]
    phases = [line for line in before if re.match(r"[a-z .]+: .*[0-9]+ s", line)]
    assert [line for line in phases if "left" not in line] == [], "each phase is part of the whole"
    for command, last in (
        (["predict", "run", "pairs.csv"], r"predicting: 10 of 10 draws, 0 s.*"),
        (["predict", "run", "pairs.csv", "--out", "p.csv"], r"writing the table: 10 of 10 lines, 0 s.*"),
        (["complete", "run", "--out", "c.csv"], r"completing: 10 of 10 draws, 0 s.*"),
        (["top", "run", "--row", "4"], r"predicting: 10 of 10 draws, 0 s.*"),
        (["report", "run"], r"[a-z -]+: [0-9]+ of 10 draws, [0-9]+ s.*"),
        (["diagnose", "run"], r"diagnosing held-out cells: 10 of 10 draws, [0-9]+ s.*"),
        (["diagnose", "run", "--verify"], r"verifying: ([0-9]+) of \1 files, 0 s.*"),
    ):
        assert has(run(*command), last), command
        assert run(*command, "--quiet") == [] or command[0] in ("predict", "top", "complete"), "only the verdict"
