"""Labels of every kind on the command line: dates and numbers of a run made in Python, and the numbers of a matrix."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from manifill import MatrixCompletion, load
from manifill.cli.app import run as run_command
from tests.estimators.tables import low_rank_table
from tests.tables.test_matrix_files import matrix_market

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

QUICK: dict[str, Any] = {"rank": 2, "sampler": "factors", "chains": 2, "warmup": 20, "draws": 20, "seed": 0, "jobs": 1}
QUICK["column_transform"] = None
HOLES = low_rank_table()[1]
DAYS = pd.date_range("2024-03-01", periods=len(HOLES))
DEPTHS = np.arange(HOLES.shape[1]) + 0.5

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Return a function that runs a command in an empty folder and returns its code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["manifill", *arguments])
        return int(run_command()), *capsys.readouterr()

    return call


def test_dates_and_numbers_are_found_by_what_people_write(call: Call) -> None:
    frame = pd.DataFrame(HOLES, index=DAYS, columns=DEPTHS)
    model = MatrixCompletion(**QUICK, path="run", progress=False).fit(frame, layout="wide")
    Path("pairs.csv").write_text("day,depth\n2024-03-03,2.5\n")
    code, out, _ = call("predict", "run", "pairs.csv")
    assert code == 0
    expected = model.predict([DAYS[2]], [2.5]).mean[0]
    assert float(out.splitlines()[1].split(",")[2]) == pytest.approx(expected, rel=1e-6)
    code, out, _ = call("top", "run", "--row", "2024-03-03", "--json")
    assert code == 0
    assert {line["column"] for line in json.loads(out)["top"]} <= set(DEPTHS[np.isnan(HOLES[2])])
    code, _, err = call("top", "run", "--row", "yesterday")
    assert code == 2
    assert err.endswith("not a row of this run, whose rows are 2024-03-01, 2024-03-02, 2024-03-03, …; correct it.\n")


def test_columns_may_be_dates_in_json(call: Call) -> None:
    MatrixCompletion(**QUICK, path="run", progress=False).fit(pd.DataFrame(HOLES.T, index=DEPTHS, columns=DAYS))
    code, out, _ = call("top", "run", "--row", "2.5", "--json")
    assert code == 0
    assert all(line["column"].startswith("2024-03-") for line in json.loads(out)["top"])


def test_a_matrix_market_file_counts_from_one(call: Call) -> None:
    """If rows were numbered from 0, a pair of the file's own numbers would silently be another cell."""
    Path("m.mtx").write_bytes(matrix_market(HOLES))
    options = [f"--{name.replace('_', '-')}={'none' if value is None else value}" for name, value in QUICK.items()]
    assert call("fit", "m.mtx", *options, "--hold-out", "0", "--out", "run")[0] in (0, 3)
    m, n = HOLES.shape
    Path("pairs.csv").write_text(f"row,column\n1,2\n{m},{n}\n")
    code, out, _ = call("predict", "run", "pairs.csv")
    assert code == 0
    whole = np.asarray(load("run").complete()[0])
    means = [float(line.split(",")[2]) for line in out.splitlines()[1:]]
    np.testing.assert_allclose(means, [whole[0, 1], whole[-1, -1]], rtol=1e-6)
    Path("pairs.csv").write_text("row,column\n0,1\n")
    code, _, err = call("predict", "run", "pairs.csv")
    assert code == 2
    assert "line 2 of pairs.csv has the row 0, which is not a label of the run" in err
