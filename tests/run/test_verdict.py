"""The verdict on convergence: stored when a fit ends, and shown by every command that answers from the run."""

import hashlib
import json
import re
import sys
from pathlib import Path

import pandas as pd
import pytest

import manifill
from manifill.cli.app import run as run_command
from manifill.run.folder import RunFolder
from manifill.run.verdict import read_verdict
from tests.estimators.tables import low_rank_table
from tests.run.runs import fit

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")


@pytest.fixture
def short_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a run of too few draws, and a file of pairs."""
    monkeypatch.chdir(tmp_path)
    fit(Path("my run"), pd.DataFrame(low_rank_table()[1]).rename(index="r{}".format).rename(columns="c{}".format))
    Path("pairs.csv").write_text("row,column\nr1,c2\n")
    return Path("my run")


ASKED = {
    "predict": ["predict", "my run", "pairs.csv"],
    "complete": ["complete", "my run"],
    "top": ["top", "my run", "--row", "r1"],
}


def messages(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run a command, which must succeed, and return what it writes to standard error."""
    monkeypatch.setattr(sys, "argv", ["manifill", *arguments])
    assert run_command() == 0
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("command", ASKED)
def test_answers_of_a_run_that_has_not_converged_say_so_even_if_quiet(
    command: str, short_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = messages([*ASKED[command], "--quiet"], monkeypatch, capsys)
    assert line.startswith("manifill: Predictions are red: ")
    assert "Global quantities" not in line
    assert re.search(r"\(take (--draws \d+|many more --draws) and more --warmup\)", line), (
        "an option on the command line"
    )


def test_one_prediction_is_one(
    short_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "manifill: 1 prediction written to p.csv" in messages(
        [*ASKED["predict"], "--out", "p.csv"], monkeypatch, capsys
    )


def test_without_a_stored_verdict_nothing_is_computed(
    short_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    RunFolder(short_run).verdict.unlink()
    monkeypatch.setattr("manifill.run.diagnosis.diagnose", None)
    (line,) = messages(ASKED["top"], monkeypatch, capsys)
    assert line.endswith("convergence has not been checked; manifill diagnose 'my run' checks it")
    assert messages([*ASKED["top"], "--quiet"], monkeypatch, capsys) == []


def test_a_verdict_is_about_all_the_draws(short_run: Path) -> None:
    run, model = RunFolder(short_run), manifill.load(short_run)
    stored = read_verdict(run, model.posterior_)
    assert stored is not None
    assert (stored.converged, stored.sentence) == (False, model.diagnostics_.predictions.sentence)
    assert stored.sentence.parts == model.diagnostics_.predictions.sentence.parts
    assert read_verdict(run, model.posterior_.thinned(10)) is None


def old_verdict(converged: bool, verdict: str, chains: int, draws: int) -> bytes:
    """Return the file of a fit that was made before there were two verdicts."""
    fields = {"converged": converged, "verdict": verdict, "chains": chains, "draws": draws}
    checksum = hashlib.sha256(json.dumps(list(fields.values())).encode()).hexdigest()
    return json.dumps(fields | {"sha256": checksum}, indent=1).encode()


@pytest.mark.parametrize("converged", [True, False])
def test_a_verdict_from_before_there_were_two_keeps_its_meaning(
    short_run: Path, converged: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draws = manifill.load(short_run).posterior_
    text = "Not converged: R-hat of lp is 1.2, above 1.01 (take more warm-up and draws)."
    RunFolder(short_run).verdict.write_bytes(old_verdict(converged, text, draws.chains, draws.draws))
    assert messages([*ASKED["top"], "--quiet"], monkeypatch, capsys) == ([] if converged else [f"manifill: {text}"])


def test_changed_values_in_an_old_verdict_are_noticed(short_run: Path) -> None:
    content = old_verdict(converged=False, verdict="Not converged.", chains=2, draws=40)
    RunFolder(short_run).verdict.write_bytes(content.replace(b"false", b"true"))
    with pytest.raises(ValueError, match="checksum does not match"):
        manifill.load(short_run)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"converged": true}', b"\xff"], ids=repr)
def test_a_damaged_verdict_is_named(short_run: Path, content: bytes) -> None:
    RunFolder(short_run).verdict.write_bytes(content)
    with pytest.raises(ValueError, match=r"my run/verdict\.json is damaged: "):
        manifill.load(short_run)


def test_a_fit_whose_verdict_cannot_be_written_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("manifill.run.verdict.replacing", full)
    assert fit(tmp_path / "run").posterior_.draws == 40
