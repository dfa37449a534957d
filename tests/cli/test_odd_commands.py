"""Commands with odd paths and odd values: one line, exit code 2, and nothing that exists is changed."""

import sys
from pathlib import Path

import pytest

from manifill.cli.app import run

TABLE = "userId,movieId,rating\n1,1,4\n1,2,3\n2,1,5\n3,2,1\n"
LONG = "x" * 300


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TABLE)


def refusal(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that is refused, and return the line that says why."""
    monkeypatch.setattr(sys, "argv", ["manifill", *words])
    assert run() == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    "words",
    [["fit", "t.csv", "--out", LONG], ["diagnose", LONG], ["predict", LONG, "t.csv"], ["report", LONG]],
    ids=lambda words: words[0],
)
def test_errors_of_the_system_name_the_path_and_have_no_number(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(words, monkeypatch, capsys)
    assert said.startswith(f"manifill: {LONG}")
    assert said.endswith(" cannot be used: File name too long; give another path.")


def test_a_note_about_an_odd_path_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--rank", "1", "--chains", "1", "--warmup", "2", "--draws", "3", "--jobs", "1", "--sampler", "factors"]
    monkeypatch.setattr(sys, "argv", ["manifill", "fit", "t.csv", "--out", "a\nb", *small])
    assert run() == 3
    assert all(line.startswith("manifill: ") for line in capsys.readouterr().err.splitlines())
