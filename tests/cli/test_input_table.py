"""Tables on the command line: guesses that are refused, codes, limits, labels and encodings."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import pytest

import manifill
from manifill.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

Call: TypeAlias = Callable[..., tuple[str | int | None, str, str]]

SMALL = {"sampler": "factors", "rank": 1, "chains": 1, "warmup": 2, "draws": 3, "jobs": 1, "holdout": 0, "seed": 1}
SMALL |= {"column-transform": "none"}
QUICK = [*(word for name, value in SMALL.items() for word in (f"--{name}", str(value))), "--out", "run"]
COMPLETE = "id,a,b\nx,1,2\ny,3,4\nz,5,7\n"
LONG = "gene,drug,ic50\ng,x,1\ng,y,2\nh,x,3\n"


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Return a function that runs a command in an empty folder and returns its code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[str | int | None, str, str]:
        monkeypatch.setattr(sys, "argv", ["manifill", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


REFUSED = {
    "a table without a hole": (COMPLETE, "t.csv, read as a wide table, has no missing entry"),
    "a complete long table": (LONG + "h,y,4\n", "t.csv, read as a long table, has no missing entry"),
    "one column": ("name,a\nx,1\ny,\nz,3\n", "t.csv, read as a wide table, has a single column"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_guess_with_nothing_to_complete_is_refused(call: Call, text: str, message: str) -> None:
    Path("t.csv").write_text(text)
    code, out, err = call("fit", "t.csv", *QUICK)
    last = err.splitlines()[-1]
    assert (code, out) == (2, "")
    assert message in last
    assert all(option in last for option in ("--wide", "--long", "--missing"))
    assert not Path("run").exists()


@pytest.mark.parametrize("options", [["--wide"], ["--id", "id"], ["--missing", "7"]], ids=str)
def test_whoever_gives_the_layout_or_a_code_may_fit(call: Call, options: list[str]) -> None:
    Path("t.csv").write_text(COMPLETE)
    assert call("fit", "t.csv", *QUICK, *options)[0] == 3
    assert manifill.load("run").observations_.size == (5 if "7" in options else 6)


def test_a_complete_matrix_has_no_layout_to_guess(call: Call) -> None:
    np.savez("m.npz", np.random.default_rng(0).normal(size=(4, 3)))
    assert call("fit", "m.npz", *QUICK)[0] == 3


def test_python_fits_complete_data(call: Call, tmp_path: Path) -> None:
    """An imputer is fitted on complete data too."""
    Path("t.csv").write_text(COMPLETE)
    assert manifill.tables.read_table("t.csv").observations.size == 6


def test_a_code_is_pointed_out_with_its_option(call: Call) -> None:
    lines = "".join(f"r{k},{k}.5,{-999 if k % 3 else k}\n" for k in range(30))
    Path("t.csv").write_text(f"id,a,b\n{lines}")
    code, _, err = call("fit", "t.csv", *QUICK)
    assert code == 2
    assert "-999 (20 times) lies apart from all other values; if it means missing, pass --missing -999\n" in err
    code, _, err = call("fit", "t.csv", *QUICK, "--missing", "-999")
    assert code == 3
    assert "40 cells observed" in err
    assert "apart" not in err


MISTAKES = {
    "a duplicated pair": (
        LONG + "g,x,4\n",
        [],
        "line 2 and line 5 of t.csv both contain the cell (row g, column x); remove one, or pass --duplicates average",
    ),
    "an id that repeats": (LONG, ["--id", "gene"], "make labels unique, or give another column as --id."),
    "no columns": ("a,b\n1.5,2.5\n", ["--row", "a"], "the --col of the long table t.csv cannot be inferred"),
    "wide and long": (
        LONG,
        ["--wide", "--row", "gene"],
        "--row, --col and --value are for a long table, and --id for a",
    ),
    "ambiguous values": (
        "user,item,a,b\n1,2,3,4\n1,3,4,5\n2,2,5,6\n",
        [],
        "choose --value among a and b, or pass --wide.",
    ),
    "no size": (LONG, ["--max-size", "large"], "--max-size is a number of bytes such as 500MB or 4GB, not 'large'."),
}


@pytest.mark.parametrize(("text", "options", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_messages_have_the_words_of_the_command_line(call: Call, text: str, options: list[str], message: str) -> None:
    Path("t.csv").write_text(text)
    code, out, err = call("fit", "t.csv", *QUICK, *options)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]


def test_matrices_are_not_wide_or_long(call: Call) -> None:
    np.savez("m.npz", np.eye(2))
    assert "manifill: --long does not apply to m.npz" in call("fit", "m.npz", *QUICK, "--long")[2]
    Path("m.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 3\n1 1 5\n2 2 1\n")
    assert "pass --duplicates average" in call("fit", "m.mtx", *QUICK)[2]
    np.savez("d.npz", rows=[0, 0], cols=[0, 0], values=[1.0, 2.0])
    assert "pass --duplicates average" in call("fit", "d.npz", *QUICK)[2]


def test_a_file_that_unpacks_to_too_much(call: Call) -> None:
    pd.DataFrame({"id": ["x"] * 9999, "a": 1.0}).to_csv("t.csv.gz", index=False)
    code, _, err = call("fit", "t.csv.gz", *QUICK, "--max-size", "10KB")
    assert code == 2
    assert "unpacks to more than 10.0 KB; if that is as it should be, pass --max-size 8GB or more." in err


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (COMPLETE, ["--wide"]),
        (COMPLETE.replace("7", "-9"), ["--missing", "-9"]),
        (LONG, ["--row", "drug", "--col", "gene", "--value", "ic50"]),
        (LONG + "g,x,4\n", ["--duplicates", "average"]),
    ],
    ids=["wide", "missing", "columns", "duplicates"],
)
def test_a_resumed_run_reads_its_table_as_before(call: Call, text: str, options: list[str]) -> None:
    Path("t.csv").write_text(text)
    assert call("fit", "t.csv", *QUICK, *options)[0] == 3
    code, _, err = call("fit", "t.csv", "--resume", "--out", "run", "--draws", "5", "--jobs", "1")
    assert code == 3, err
    assert manifill.load("run").posterior_.draws == 5


MODEL_MISTAKES = {
    "trials": (
        ["--likelihood", "binomial"],
        "--likelihood binomial needs --trials, the number of steps of size --step from the smallest possible value to "
        "the largest.",
    ),
    "trials of a gaussian": (["--trials", "5"], "--trials has no meaning for --likelihood gaussian; leave it out."),
    "rank": (["--rank", "0"], "--rank must be 'auto' or a whole number of at least 1, not 0."),
    "sigma": (["--sigma", "-1"], "--sigma must be a positive number, not -1.0."),
    "two noises": (
        ["--sigma", "1", "--noise-prior", "paper"],
        "--sigma fixes the noise that --noise-prior is a prior of",
    ),
    "lambda": (["--lambda", "1"], "--lambda 1.0 has no meaning for --sampler factors; leave it out."),
}


@pytest.mark.parametrize(("options", "message"), MODEL_MISTAKES.values(), ids=MODEL_MISTAKES.keys())
def test_so_do_messages_about_the_model(call: Call, options: list[str], message: str) -> None:
    Path("t.csv").write_text(LONG)
    code, out, err = call("fit", "t.csv", *QUICK, *options)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]


def test_unknown_labels_are_named_with_their_line(call: Call) -> None:
    Path("t.csv").write_text(LONG)
    call("fit", "t.csv", *QUICK)
    Path("p.csv").write_text("gene,drug\ng,x\n\nh,nothing\n")
    code, out, err = call("predict", "run", "p.csv")
    assert (code, out) == (2, "")
    assert "line 4 of p.csv has the column 'nothing', which is not a label of the run; correct it" in err
    assert "--interval is the probability" in call("predict", "run", "t.csv", "--interval", "2")[2]


def _run_with_odd_labels() -> None:
    pd.DataFrame({"who": ["=f()", "Ödön", "c"], "x+": [1.0, 2.0, 3.0], "-y": [1.5, np.nan, 2.5]}).to_csv(
        "t.csv", index=False
    )
    pd.DataFrame({"who": ["=f()", "Ödön"], "column": ["-y", "-y"], "mine": ["@z", "-3"]}).to_csv("p.csv", index=False)


def test_formulas_are_neutralised_unless_labels_are_raw(call: Call) -> None:
    _run_with_odd_labels()
    call("fit", "t.csv", *QUICK)
    assert call("complete", "run")[1].splitlines()[0] == "who,x+,'-y"
    assert call("complete", "run", "--raw-labels")[1].splitlines()[0] == "who,x+,-y"
    call("complete", "run", "--out", "c.csv")
    assert list(pd.read_csv("c.csv")["who"]) == ["'=f()", "Ödön", "c"]
    lines = call("predict", "run", "p.csv")[1].splitlines()
    assert lines[1].startswith("'=f(),'-y,'@z,")
    assert lines[2].startswith("Ödön,'-y,-3,")
    call("predict", "run", "p.csv", "--out", "q.csv", "--quiet")
    again = call("predict", "run", "q.csv", "--raw-labels")[1].splitlines()
    assert again[1].startswith("=f(),-y,'@z,")


def test_any_encoding_of_the_terminal(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are UTF-8 as files are, and messages escape what the terminal cannot show."""
    _run_with_odd_labels()
    call("fit", "t.csv", *QUICK)
    for arguments in (["predict", "run", "p.csv"], ["complete", "run"], ["top", "run", "--row", "Ödön"]):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, "ascii", errors="strict", write_through=True))
        assert call(*arguments)[0] == 0
        found = raw.getvalue()
        assert arguments[0] == "top" or "Ödön".encode() in found


def test_a_process_in_the_c_locale(call: Call) -> None:
    """Without the UTF-8 mode, in which Python starts there by default."""
    _run_with_odd_labels()
    call("fit", "t.csv", *QUICK)
    done = subprocess.run(
        [sys.executable, "-m", "manifill", "predict", "run", "p.csv"],
        capture_output=True,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"},
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Ödön".encode() in done.stdout
