import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manifill.likelihoods import Gaussian, WithNoise
from manifill.problem import Model, from_array
from manifill.sampling.chains import Plan, run_chains
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.progress_board import Board, Line, Stage
from manifill.sampling.progress_display import display

SEEDS = np.random.SeedSequence(1).spawn(3)


def plan(**changes: Any) -> Plan:
    table = np.random.default_rng(0).normal(size=(8, 6))
    build = partial(Factors, Model(2, Gaussian(), 1.0, WithNoise()), from_array(table))
    return Plan(**{"build": build, "chains": 3, "warmup": 4, "draws": 5, "path": None, **changes})


def test_records_are_complete_and_reproducible() -> None:
    first = run_chains(plan(), SEEDS, jobs=1, visible=False)
    second = run_chains(plan(), SEEDS, jobs=3, visible=False)
    assert [record.draws for record in first] == [5, 5, 5]
    assert all(len(record.warmup_statistics["lp"]) == 4 for record in first)
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.posterior["A"], two.posterior["A"])


def test_an_error_in_a_chain_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        run_chains(plan(build=partial(divmod, 1, 0)), SEEDS, jobs=2, visible=False)


def test_board_carries_lines_and_the_word_stop(tmp_path: Path) -> None:
    board, same = Board(tmp_path / "board", 2, create=True), Board(tmp_path / "board", 2)
    board.write(1, Line(Stage.WARMUP, 7.0, 0.1, 31.0, 2.0))
    assert same.read(1) == Line(Stage.WARMUP, 7.0, 0.1, 31.0, 2.0)
    assert same.read(0).stage == Stage.WAITING
    assert not same.stopped
    board.stop()
    assert same.stopped


def test_lines_where_there_is_no_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manifill.sampling.progress_display.SECONDS_BETWEEN_LINES", 0.0)
    board = Board(tmp_path / "board", 2, create=True)
    board.mark(0, Stage.COMPILING)
    with display(2, 10, visible=True) as shown:
        shown.update(board)
    said = capfd.readouterr().err
    assert "compiling" in said
    assert "chain 2 waiting 0/10" in said


def test_nothing_is_shown_when_not_wanted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run_chains(plan(), SEEDS, jobs=1, visible=False)
    assert capfd.readouterr().err == ""


INTERRUPTED = """
    import warnings
    import numpy as np
    from manifill import MatrixCompletion
    if __name__ == "__main__":
        warnings.simplefilter("ignore")
        table = np.random.default_rng(0).normal(size=(8, 6))
        model = MatrixCompletion(rank=2, sampler="factors", chains=3, warmup=10, draws=10_000_000, seed=0, jobs={jobs},
                                 path={path!r})
        model.fit(table)
        print("kept", model.posterior_.chains, model.posterior_.draws, np.isfinite(model.posterior_.sigma[:]).all())
"""


@pytest.mark.parametrize(("jobs", "on_disk"), [(1, False), (2, True)])
def test_ctrl_c_returns_what_has_been_drawn(jobs: int, on_disk: bool, tmp_path: Path) -> None:
    """The interrupt goes to the whole group of processes, as a terminal sends it."""
    script = tmp_path / "script.py"
    path = str(tmp_path / "run") if on_disk else None
    draws = "10_000_000" if not on_disk else "200_000"
    script.write_text(textwrap.dedent(INTERRUPTED.format(jobs=jobs, path=path)).replace("10_000_000", draws))
    process = start(script)
    wait_for(process, "sampling")
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.startswith("kept"), err
    _, chains, draws, finite = out.split()
    assert int(chains) >= 1
    assert int(draws) > 10
    assert finite == "True"


def test_ctrl_c_in_warm_up_says_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    text = textwrap.dedent(INTERRUPTED.format(jobs=2, path=str(tmp_path / "run")))
    script.write_text(text.replace("warmup=10, draws=10_000_000", "warmup=10_000_000, draws=10"))
    process = start(script)
    wait_for(process, "warm-up")
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert "StoppedInWarmup: stopped during warm-up" in err


def start(script: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def wait_for(process: subprocess.Popen[str], word: str) -> None:
    """Wait for the first line on standard error with this word."""
    assert process.stderr is not None
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if word in process.stderr.readline():
            return
    process.kill()
    raise AssertionError(f"no chain said {word}")


def test_path_of_board_may_be_out_of_reach() -> None:
    from manifill.sampling.chains import run_chain

    record = run_chain(plan(), 0, np.random.SeedSequence(1), Path("/nowhere/board"), os.getpid())
    assert record.draws == 5
