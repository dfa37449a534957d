"""The command line in this process: random commands, options, tables and runs."""

import contextlib
import io
import os
import warnings
from pathlib import Path, PurePath
from random import Random
from unittest.mock import patch

from manifill.cli.app import run
from manifill.run.run_files import is_lock, is_run_file
from tests.fuzz.case import Case, Target
from tests.fuzz.command_words import command_words
from tests.fuzz.damage import damaged
from tests.fuzz.inline_zarr import zarr_in_this_thread
from tests.fuzz.tables import matrix_file, table_file
from tests.fuzz.valid_runs import valid_run

__all__ = ["COMMANDS"]

RUNS = ("small", "two chains", "two chains", "two chains", "scaled", "older", "effects")
PAIRS = b"userId,movieId\n7,10\n30,20\n2,30\n"  # of the run with two chains
OLD = b"a file that was there before\n"
OUTCOMES = {0: "success", 2: "refused", 3: "not converged"}


def make(random: Random) -> Case:
    """Return a folder with a table, pairs, a run and other files, and the words of a command."""
    valid_run("effects")  # compiles the default sampler, which takes longer than a case may
    name, table = table_file(random) if random.random() < 0.8 else matrix_file(random)
    whole = valid_run(random.choice(RUNS)).files
    files = {
        name: table,
        "ratings.csv": _ratings(),
        "pairs.csv": random.choice((PAIRS, PAIRS, table)),
        "old.csv": OLD,
        "other/notes.txt": OLD,
    }
    words = {"words": command_words(random, name)}
    if random.random() < 0.6:
        return Case(files | {f"run/{file}": content for file, content in whole.items()}, words)
    found = damaged(random, whole)
    return Case(
        files | {f"run/{file}": content for file, content in found.files.items()},
        words,
        tuple(f"run/{folder}" for folder in found.folders),
        {f"run/{file}": target for file, target in found.links.items()},
    )


def _ratings() -> bytes:
    """Return the table of the run with two chains."""
    table = valid_run("two chains").table
    rows, cols, values = table.triples()
    assert table.row_labels is not None
    assert table.column_labels is not None
    lines = zip(table.row_labels[rows], table.column_labels[cols], values, strict=True)
    return "".join(f"{row},{col},{value}\n" for row, col, value in [("userId", "movieId", "rating"), *lines]).encode()


def check(folder: Path, case: Case) -> str:
    """Run the command: a documented exit code, one line if it is 2, and no file of before is changed unasked."""
    words = case.arguments["words"]
    before = _contents(folder)
    code, output, errors = _run(folder, words)
    assert code in OUTCOMES, code
    lines = errors.split("\n")
    assert lines.pop() == "", errors
    assert all(line.startswith("manifill: ") for line in lines), errors
    assert not any(odd in errors for odd in ("Traceback", "Errno", "<class", "object at 0x")), errors
    if code == 2:  # help, if there is no command, and what is wrong with a run are on standard output
        assert lines or (output and ("--verify" in words or not words)), output
    after = _contents(folder)
    changed = {name for name, content in before.items() if after.get(name) != content}
    unasked = {name for name in changed if not _may_change(name, words, code)}
    assert not unasked, unasked
    return OUTCOMES[code]


def _run(folder: Path, words: tuple[str, ...]) -> tuple[int, str, str]:
    """Run a command in a folder, and return its exit code, standard output and standard error."""
    output, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace") for _ in range(2))
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(output))
        stack.enter_context(contextlib.redirect_stderr(errors))
        stack.enter_context(patch("sys.argv", ["manifill", *words]))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("default")
        if words[:1] != ("fit",):  # which samples in another thread
            stack.enter_context(zarr_in_this_thread())
        code = run()
    texts = []
    for stream in (output, errors):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))
    return code, texts[0], texts[1]


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files in a folder, by name, without links and locks."""
    paths = (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)
    files = {path.relative_to(folder).as_posix(): path for path in paths if path.is_file() and not path.is_symlink()}
    return {name: path.read_bytes() for name, path in files.items() if not is_lock(PurePath(name.removeprefix("run/")))}


def _may_change(name: str, words: tuple[str, ...], code: int) -> bool:
    """Return whether a command may change a file: one that it names, or that belongs to the run that it continues."""
    if words[0] == "fit":
        is_asked = "--overwrite" in words or "--resume" in words
        return is_asked and code != 2 and name.startswith("run/") and is_run_file(PurePath(name.removeprefix("run/")))
    return name == "run/report.html" or ("--out" in words and name == words[words.index("--out") + 1])


COMMANDS = Target("commands", make, check)
