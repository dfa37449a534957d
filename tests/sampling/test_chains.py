import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from manifill.base import kernel_cache, progress
from manifill.base.progress import Row, Watch
from manifill.likelihoods import Gaussian, WithNoise
from manifill.posterior import ChainRecord
from manifill.problem import Model, from_array
from manifill.sampling.chain import run_chain
from manifill.sampling.chains import Plan, open_chains
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.progress_board import Board, Line, Stage
from manifill.sampling.shared_value import InMemory

SEEDS = np.random.SeedSequence(1).spawn(3)


def plan(**changes: Any) -> Plan:
    table = np.random.default_rng(0).normal(size=(8, 6))
    build = partial(Factors, Model(2, Gaussian(), 1.0, WithNoise()), from_array(table))
    return Plan(**{"build": build, "chains": 3, "warmup": 4, "path": None, **changes})


def run_chains(plan: Plan, jobs: int, *stops: int) -> list[list[ChainRecord]]:
    """Return the records of the chains, run to these numbers of draws one after the other."""
    with open_chains(plan, SEEDS, jobs=jobs) as chains:
        return [chains.run(draws) for draws in stops]


def test_records_are_complete_and_reproducible() -> None:
    (first,), (second,) = (run_chains(plan(), jobs, 5) for jobs in (1, 3))
    assert [record.draws for record in first] == [5, 5, 5]
    assert all(len(record.warmup_statistics["lp"]) == 4 for record in first)
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.posterior["A"], two.posterior["A"])


def test_an_error_in_a_chain_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        run_chains(plan(build=partial(divmod, 1, 0)), 2, 5)


def test_board_carries_lines_and_the_word_stop(tmp_path: Path) -> None:
    board, same = Board(tmp_path / "board", 2, create=True), Board(tmp_path / "board", 2)
    board.write(1, Line(Stage.WARMUP, 7.0, 0.1, 31.0, 2.0, 5.0))
    assert same.read(1) == Line(Stage.WARMUP, 7.0, 0.1, 31.0, 2.0, 5.0)
    assert same.read(0).stage == Stage.WAITING
    assert not same.stopped
    board.stop()
    assert same.stopped


def test_a_kernel_that_an_iteration_compiles_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board, step, stages = Board(tmp_path / "board", 3, create=True), Factors.step, []

    def compiling(*arguments: Any) -> Any:
        for now in (True, False):
            for listener in kernel_cache._listeners:
                listener(now)
            stages.append(Stage(int(board.read(0).stage)))
        return step(*arguments)

    monkeypatch.setattr(Factors, "step", compiling)
    run_chain(InMemory(plan()), 0, SEEDS[0], board.path, 5)
    assert stages[:2] == [Stage.COMPILING, Stage.WARMUP]
    assert stages[-2:] == [Stage.COMPILING, Stage.DRAWING]


def test_nothing_is_shown_when_not_wanted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run_chains(plan(), 1, 5)
    assert capfd.readouterr().err == ""


class Recorder:
    """Keeps what is reported, and looks at the rows all the time."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.notes: list[str] = []
        self.seen: list[tuple[Row, ...]] = []
        self._ended = threading.Event()

    def begin(self, phase: str, total: float | None, unit: str, guess: float, then: float) -> None:
        self.phases.append(phase)

    def advance(self, amount: float, doing: str) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        self.notes.append(text)

    def watch(self, rows: Watch) -> None:
        self._rows = rows
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self._ended.wait(0.0001):
            self.seen.append(tuple(self._rows()[0]))

    def end(self) -> None:
        self._ended.set()
        self.seen.append(tuple(self._rows()[0]))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_chain_only_moves_on(jobs: int) -> None:
    """No chain waits again once it has started, and only iterations are counted."""
    recorder = Recorder()
    with progress.listening(recorder):
        run_chains(plan(warmup=100), jobs, 100)
    recorder.end()
    assert recorder.phases[-1] == "sampling"
    order = ["waiting", "initialising", "compiling", "warm-up", "drawing", "done"]
    for chain in range(3):
        rows = [rows[chain] for rows in recorder.seen]
        stages = [row.doing.partition(",")[0] for row in rows]
        moves = [stage for k, stage in enumerate(stages) if k == 0 or stage != stages[k - 1]]
        assert [order.index(stage) for stage in moves if stage != "compiling"] == sorted(map(order.index, set(moves)))
        assert stages[-1] == "done"
        assert all((row.total is None) == (stage in order[:3]) for row, stage in zip(rows, stages, strict=True))


def test_the_place_of_the_kernels_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manifill.sampling.chains.cache_note", lambda: "the kernels are elsewhere")
    recorder = Recorder()
    with progress.listening(recorder):
        run_chains(plan(), 1, 5)
    recorder.end()
    assert recorder.notes == ["the kernels are elsewhere"]


def test_chains_run_where_joblib_is_configured_to_run_them() -> None:
    (first,) = run_chains(plan(), 1, 5)
    with joblib.parallel_config(backend="threading"):
        (second,) = run_chains(plan(build=in_this_process(os.getpid(), plan().build)), 2, 5)
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.posterior["A"], two.posterior["A"])


def in_this_process(number: int, build: Callable[[], Any]) -> Callable[[], Any]:
    def checked() -> Any:
        assert os.getpid() == number
        return build()

    return checked


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
    wait_for(process, "drawing")
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
    assert "StoppedInWarmup: stopped before the first draw" in err


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
    found = run_chain(InMemory(plan()), 0, np.random.SeedSequence(1), Path("/nowhere/board"), 5)
    assert found.record.draws == 5
