"""What is shown of the progress of a fit, on a terminal and elsewhere."""

import io
import logging
import re
import time
from typing import Any

import pytest
from rich.console import Console

from manifill.base import progress
from manifill.base.progress import Estimate, Row
from manifill.base.progress_display import displayed, time_left
from tests.progress_recorder import Recorder


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manifill.base.progress_display.SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr("manifill.base.progress_display.SECONDS_BETWEEN_UPDATES", 0.01)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Let rich take a string for a terminal."""
    screen = io.StringIO()

    def console(**_: Any) -> Console:
        return Console(file=screen, force_terminal=True, width=120, legacy_windows=False, _environ={})

    monkeypatch.setattr("rich.console.Console", console)
    return screen


def test_a_phase_with_a_count_is_shown_with_the_time_left(capfd: pytest.CaptureFixture[str]) -> None:
    with displayed(visible=True):
        progress.begin("diagnosing", 4.0, "draws")
        time.sleep(0.5)
        progress.advance()
        progress.advance()
        time.sleep(0.2)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "manifill: diagnosing: 0 of 4 draws, 0 s"
    assert lines[-1] == "manifill: diagnosing: 2 of 4 draws, 1 s, about 1 s left"


def test_a_phase_without_a_count_shows_how_long_it_has_lasted(capfd: pytest.CaptureFixture[str]) -> None:
    """A sign of life, though nothing is reported."""
    with displayed(visible=True):
        progress.begin("reading table.csv")
        time.sleep(0.7)
    lines = dict.fromkeys(capfd.readouterr().err.splitlines())
    assert list(lines) == [f"manifill: reading table.csv: {k} s" for k in range(2)]


def test_what_is_done_now_and_guesses_are_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with displayed(visible=True):
        progress.begin("compiling", 2.0, "kernels", guess=40.0, then=100.0)
        progress.advance(1.0, "transition")
    last = capfd.readouterr().err.splitlines()[-1]
    assert last == "manifill: compiling: 1 of 2 kernels, 0 s (transition), perhaps 1:50 min left"


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list whose only number is the time, which is shown on request."""
    now = [0.0]
    monkeypatch.setattr("manifill.base.progress_display.SECONDS_BETWEEN_UPDATES", 1000.0)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_the_estimate_falls_until_it_is_nearly_due_and_then_grows(
    capfd: pytest.CaptureFixture[str], seconds: list[float]
) -> None:
    """A kernel that takes minutes to compile does not let the time left stand still, or reach its end."""
    with displayed(visible=True):
        display: Any = progress.listener()
        progress.begin("compiling", 4.0, "kernels", guess=40.0)
        for now in (0.0, 10.0, 20.0, 30.0, 32.0, 60.0, 200.0):
            seconds[0] = now
            display.update()
        progress.advance(2.0)
    *shown, last = (line.rpartition("about ")[2] for line in capfd.readouterr().err.splitlines())
    assert shown == [f"{left} s left" for left in (40, 30, 20, 10, 8, 15, 50)]
    assert last == "1:50 min left", "what is counted corrects the estimate"


def test_a_phase_of_unknown_length_shows_what_follows(capfd: pytest.CaptureFixture[str]) -> None:
    with displayed(visible=True), progress.followed_by(50.0):
        progress.begin("checking")
    assert capfd.readouterr().err.splitlines()[-1] == "manifill: checking: 0 s, perhaps 50 s left"


def test_a_total_that_grows_lowers_the_share(capfd: pytest.CaptureFixture[str]) -> None:
    with displayed(visible=True):
        progress.begin("reading", 10.0, "MB")
        progress.advance(10.0, "lines")
        progress.expect(10.0)
    assert capfd.readouterr().err.splitlines()[-1].startswith("manifill: reading: 10 of 20 MB, 0 s (lines)")


def test_items_are_counted_as_they_are_used() -> None:
    recorder = Recorder()
    with progress.listening(recorder), progress.followed_by(3.0):
        assert list(progress.counted("abc", "spelling", 3, "letters", guess=1.0)) == ["a", "b", "c"]
    phase = recorder.phase("spelling")
    assert (phase.total, phase.unit, phase.guess, phase.then) == (3, "letters", 1.0, 3.0)
    assert phase.counts == [1.0, 2.0, 3.0]


def test_what_follows_adds_up_and_opens_no_display(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.followed_by(1.0), displayed(visible=True), progress.followed_by(2.0), progress.followed_by(3.0):
        progress.begin("checking")
    assert capfd.readouterr().err.splitlines()[-1] == "manifill: checking: 0 s, perhaps 5 s left"


def rows() -> tuple[list[Row], Estimate]:
    chains = [Row("chain 1", "warm-up", "120/1500", 120.0, 1500.0), Row("chain 2", "initialising", "7/45, 3 s")]
    return chains, Estimate(200.0, measured=True)


def test_rows_are_shown_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    with displayed(visible=True):
        progress.begin("sampling")
        progress.listener().watch(rows)
    last = capfd.readouterr().err.splitlines()[-1]
    assert last == "manifill: chain 1 warm-up 120/1500; chain 2 initialising 7/45, 3 s; after 0 s, about 3:20 min left"


def test_bars_on_a_terminal(terminal: io.StringIO) -> None:
    with displayed(visible=True):
        progress.begin("sampling")
        progress.listener().watch(rows)
        time.sleep(0.1)
        progress.announce("columns are divided")
        progress.begin("diagnosing", 10.0, "draws")
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    shown = [line.rstrip() for line in re.split(r"[\r\n]+", text)]
    assert "manifill: columns are divided" in shown
    assert re.fullmatch(r"diagnosing\s+━+ 0 of 10 draws, 0 s", shown[-4])
    assert re.fullmatch(r"chain 1 warm-up\s+[━╸╺]+ 120/1500", shown[-3])
    assert re.fullmatch(r"chain 2 initialising ━+ 7/45, 3 s", shown[-2])
    assert any("about 3:20 min left" in line for line in shown)


def test_a_notebook_gets_lines(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    with displayed(visible=True):
        progress.begin("checking")
    assert capfd.readouterr().err.splitlines()[-1] == "manifill: checking: 0 s"


def test_nothing_is_shown_if_not_wanted(capfd: pytest.CaptureFixture[str]) -> None:
    with displayed(visible=False):
        progress.begin("checking")
        progress.announce("not shown")
        time.sleep(0.05)
    assert capfd.readouterr().err == ""


def test_the_display_that_is_open_is_used(capfd: pytest.CaptureFixture[str]) -> None:
    with displayed(visible=True):
        display = progress.listener()
        with displayed(visible=True):
            assert progress.listener() is display
        with displayed(visible=False):
            progress.announce("not shown")
        progress.announce("shown")
    assert capfd.readouterr().err == "manifill: shown\n"


def test_announcements_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "manifill"):
        progress.announce("columns are divided")
    assert caplog.messages == ["columns are divided"]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, ""), (0.2, "1 s"), (99.4, "99 s"), (99.5, "1:40 min"), (5999.4, "99:59 min"), (5999.5, "1:40:00 h")],
)
def test_time_left_in_words(seconds: float, said: str) -> None:
    assert time_left(Estimate(seconds, measured=True)) == (f"about {said} left" if said else "")
    assert time_left(Estimate(seconds, measured=False)) == (f"perhaps {said} left" if said else "")
    assert time_left(Estimate(seconds, True, at_most=True)) == (f"at most {said} left" if said else "")
    assert time_left(None) == ""
