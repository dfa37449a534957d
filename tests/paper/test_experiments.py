"""The whole reproduction, with as few iterations as possible."""

import csv
import json
import os
import sys
from pathlib import Path

import pytest

from manifill.cli import main
from manifill.paper import EXPERIMENTS, FULL, Protocol, Size, reproduce
from manifill.paper.cases import CASES
from manifill.paper.fit_task import Fit, table_fits
from manifill.paper.tasks import Result
from tests.browser import PHONE, PICTURES_ARE_LOADED, WIDE, opened, started

TINY = Protocol("tiny", Size(2, 6, 10, 2), Size(2, 3, 10, 1), Size(2, 2, 8, 1), Size(2, 4, 8, 1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the output folder of all experiments on case 1."""
    out = tmp_path_factory.mktemp("paper") / "results"
    reproduce(EXPERIMENTS, out, TINY, cases=("case-1",), jobs=1, quiet=True)
    return out


@pytest.mark.statistical  # trees on the mice are deep
@pytest.mark.skipif("MANIFILL_DATA" not in os.environ, reason="MANIFILL_DATA is not set")
def test_the_mice_are_reproduced(tmp_path: Path) -> None:
    reproduce(EXPERIMENTS, tmp_path / "results", TINY, cases=("mice",), jobs=1, quiet=True)
    assert (tmp_path / "results" / "index.html").exists()
    test_everything_is_written(tmp_path / "results")


def test_everything_is_written(folder: Path) -> None:
    facts = json.loads((folder / "results.json").read_text(), parse_constant=pytest.fail)  # no NaN
    assert list(facts["experiments"]) == list(EXPERIMENTS)
    for experiment in facts["experiments"].values():
        for picture in experiment["pictures"]:
            assert (folder / picture).stat().st_size > 5000
        for name, rows in experiment["tables"].items():
            with (folder / "tables" / f"{name}.csv").open(newline="") as file:
                assert len(list(csv.DictReader(file))) == len(rows)
            assert (folder / "tables" / f"{name}.md").read_text().count("\n") == len(rows) + 2
    assert facts["about"]["sizes"]["synthetic"]["draws"] == 10


def test_the_page_shows_every_verdict(folder: Path) -> None:
    facts, page = json.loads((folder / "results.json").read_text()), (folder / "index.html").read_text()
    count = sum(len(experiment["verdicts"]) for experiment in facts["experiments"].values())
    assert page.count('<td class="answer ') == count > 10
    for experiment in facts["experiments"].values():
        assert all(f"figures/{Path(name).name}" in page for name in experiment["pictures"])


@pytest.mark.parametrize("width", [PHONE, WIDE])
def test_the_page_in_a_browser(folder: Path, width: int) -> None:
    """All figures load, nothing is wider than the screen, and there are no errors in the console."""
    with started() as browser, opened(browser, folder / "index.html", width, ready=PICTURES_ARE_LOADED) as shown:
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.page.locator("img").count() >= 5
        assert shown.complaints == []


def test_a_second_call_runs_no_fit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manifill.paper.fit_task.Fit.run", lambda *_: 1 / 0)
    before = json.loads((folder / "results.json").read_text())
    reproduce(["table-mad"], folder, TINY, cases=("case-1",), jobs=1, quiet=True)
    after = json.loads((folder / "results.json").read_text())
    assert after == before, "finished tasks stay on the page"


def test_the_command_prints_a_summary(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("manifill.paper.QUICK", TINY)
    monkeypatch.setattr(
        sys, "argv", ["manifill", "reproduce", "map", "--quick", "--out", str(folder), "--cases", "case-1"]
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    output = capsys.readouterr()
    assert "MAP and nuclear norm: 1 reproduced" in output.out + output.err
    assert f"results written to {folder / 'index.html'}" in output.out + output.err


def test_an_interrupted_run_has_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page shows the finished fits and how many are missing."""
    original = Fit.run

    def run(fit: Fit, scratch: Path) -> Result:
        if fit.repetition:
            raise KeyboardInterrupt
        return original(fit, scratch)

    monkeypatch.setattr(Fit, "run", run)
    with pytest.raises(KeyboardInterrupt):
        reproduce(["table-mad"], tmp_path, TINY, cases=("case-1",), jobs=1, quiet=True)
    facts = json.loads((tmp_path / "results.json").read_text())
    assert facts["about"]["fits"] == 1
    assert len(facts["experiments"]["table-mad"]["tables"]["table-mad"]) == 1
    assert "1 of " in (tmp_path / "index.html").read_text()


def test_the_papers_protocol() -> None:
    """10,000 iterations with 2,000 of burn-in, 30 repetitions of synthetic cases and 10 of real data."""
    every = table_fits(FULL, tuple(CASES))
    assert {(fit.size.warmup, fit.size.draws) for fit in every} == {(2000, 8000)}
    assert len({fit.key for fit in every}) == len(every) == 30 * (6 + 10 + 10) + 10 * (10 + 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table-x"], "'table-x' is not an experiment of the paper; choose all or one of table-mad"),
        (["map", "--quick", "--full"], "--quick and --full"),
        (["map", "--jobs", "0"], "at least 1, not 0"),
        (["map", "--cases", "mice"], "map does not use mice"),
        (["map", "--cases", "case-4"], "'case-4' is not a data set of the paper; choose from case-1"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["manifill", "reproduce", *arguments, "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
