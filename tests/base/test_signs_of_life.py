"""What is shown of a fit changes at least every ten seconds, though nothing may be reported for minutes.

The clock is the test's: every phase, and every stage of the chains, is followed by a silence of several minutes.
"""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from rich.console import Console

from manifill import ConvergenceWarning, MatrixCompletion
from manifill.base import progress
from manifill.base.progress_display import displayed
from manifill.sampling.chains import Chains, Outlook, Plan
from manifill.sampling.progress_board import Board, Line, Stage
from manifill.sampling.time_left import TimeLeft
from tests.progress_recorder import Phase, Recorder

# Called with the seconds since the display was opened; returns what is shown then.
Shown: TypeAlias = Callable[[float], str]

LONGEST = 10  # seconds without a change
SILENCE = 300  # seconds without a report
HOURS = 36_000.0  # of what follows, whose figures need more room
NARROW = 80  # columns, the usual width of a terminal


@pytest.fixture(params=["terminal", "notebook", "lines"])
def display(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    """Open a display whose clock is the test's, on a terminal or elsewhere."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("manifill.base.progress_display.SECONDS_BETWEEN_UPDATES", 1000.0)
    screen = io.StringIO()
    settings: dict[str, Any] = {
        "terminal": {"force_terminal": True},
        "notebook": {"force_jupyter": True},
        "lines": {"force_terminal": False},
    }[request.param]

    def console(**_: Any) -> Console:
        return Console(file=screen, width=NARROW, legacy_windows=False, _environ={}, **settings)

    monkeypatch.setattr("rich.console.Console", console)
    with displayed(visible=True):
        shown, last = progress.listener(), [""]

        def at(seconds: float) -> str:
            now[0] = seconds
            screen.truncate(screen.seek(0))
            with redirect_stderr(screen):
                shown.update()  # type: ignore[attr-defined]
            if request.param == "terminal":
                shown._output._bars.refresh()  # type: ignore[attr-defined]
            last[0] = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue()) or last[0]
            return last[0]

        yield at


def check_moves(shown: list[str], step: float) -> None:
    """Check that what is shown every so many seconds, and the estimates in it, never stand still for long."""
    estimates = [re.findall(r"(?:about|perhaps|most) ([0-9:]+ (?:s|min|h)) left", text) for text in shown]
    assert all(estimates) or not any(estimates), shown
    for texts in (shown, estimates) if any(estimates) else (shown,):
        still = 0.0
        for earlier, later in pairwise(texts):
            still = still + step if earlier == later else 0.0
            assert still < LONGEST, shown


@pytest.fixture(scope="module")
def phases(tmp_path_factory: pytest.TempPathFactory) -> list[Phase]:
    """Fit a small table of skewed columns, and return what was reported before the chains."""
    rng = np.random.default_rng(0)
    table = np.exp(rng.normal(size=(300, 2)) @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(300, 8)))
    table[rng.random(table.shape) < 0.2] = np.nan
    recorder, path = Recorder(), tmp_path_factory.mktemp("fit") / "run"
    model = MatrixCompletion(chains=1, warmup=3, draws=4, seed=0, jobs=1, path=path, progress=True)
    with progress.listening(recorder), pytest.warns(ConvergenceWarning):
        model.fit(table)
    return recorder.phases


def test_no_phase_counts_what_belongs_to_another(phases: list[Phase]) -> None:
    assert {"sorting cells", "choosing priors", "trying transformed columns", "choosing the rank"} <= {
        phase.name for phase in phases
    }
    for phase in phases:
        assert phase.total == 0.0 or round(max(phase.counts, default=0.0)) <= round(phase.total), phase


def test_every_phase_moves_in_silence(display: Shown, phases: list[Phase]) -> None:
    now = 0.0
    for phase in phases:
        progress.begin(phase.name, phase.total or None, phase.unit, phase.guess, phase.then + HOURS)
        for _ in range(2):  # before anything is counted, and when half is done
            display(now := now + LONGEST)  # lines come every few seconds
            shown = [display(now := now + 2.0) for _ in range(SILENCE // 2)]
            assert phase.name[:5] in shown[0]
            check_moves(shown, 2.0)
            progress.advance(0.5 * phase.total, "LowRank.random_velocity")


# What chains are doing: before their processes have started, in their start, and in iterations; some wait for others.
STAGES = {
    "processes": [Line()] * 4,
    "building": [Line(Stage.INITIALISING)] * 2 + [Line()] * 2,
    "sweeps": [Line(Stage.INITIALISING, initial_steps=k, initial_total=45.0) for k in (7.0, 45.0)] + [Line()] * 2,
    "steps": [Line(Stage.INITIALISING, initial_steps=400.0)] + [Line()] * 3,
    "compiling": [Line(Stage.COMPILING)] * 2 + [Line()] * 2,
    "first iteration": [Line(Stage.WARMUP)] * 2 + [Line()] * 2,
    "warm-up": [Line(Stage.WARMUP, 20.0)] * 2 + [Line()] * 2,
    "drawing": [Line(Stage.DONE, 500.0), Line(Stage.DRAWING, 200.0), Line(Stage.DRAWING, 499.0), Line()],
    "between blocks": [Line(Stage.WAITING, 500.0)] * 4,
    "last draw": [Line(Stage.DRAWING, 500.0)] + [Line(Stage.DONE, 500.0)] * 3,
}


@pytest.mark.parametrize("stage", STAGES)
def test_chains_move_in_silence(display: Shown, stage: str, tmp_path: Path) -> None:
    board, time_left = Board(tmp_path / "board", 4, create=True), TimeLeft(4, 100, 2, 1e8)
    nothing: Any = None
    chains = Chains(Plan(nothing, 4, 100), nothing, (), board, nothing, time_left)
    time_left.expect(Outlook(400, 4000, at_most=True))
    progress.begin("sampling")
    progress.listener().watch(chains._rows)
    before = [line._replace(iteration=max(line.iteration - 10.0, 0.0)) for line in STAGES[stage]]
    for now, lines in ((1.0, before), (5.0, STAGES[stage])):
        for chain, line in enumerate(lines):
            board.write(chain, line)
        display(now)
    shown = [display(LONGEST + 2.0 * k) for k in range(SILENCE // 2)]
    assert "chain 1" in shown[0]
    check_moves(shown, 2.0)
