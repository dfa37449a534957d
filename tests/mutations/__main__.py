"""Apply each mutation to a copy of the source tree, and run the tests that must fail with it.

    python -m tests.mutations [part of a name …]

Exit code 1 if a mutation survives that has no written bound, if its text is no longer in the source, or if the tests
fail with anything but a failed assertion.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.mutations.mutations import MUTATIONS, Mutation, NoMatchError, edited

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "pyproject.toml")
FAILED, PASSED = 1, 0  # exit codes of pytest


def copy_tree(target: Path) -> None:
    """Copy sources and tests, with caches of compiled code: they are valid as long as no compiled file changes."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name)
        else:
            shutil.copy2(source, target / name)


def apply(mutation: Mutation, tree: Path) -> None:
    """Make the edits in a copy of the tree."""
    for edit in mutation.edits:
        path = tree / "src" / "manifill" / edit.file
        path.write_text(edited(edit, path))


def run_tests(mutation: Mutation, tree: Path) -> tuple[int, str]:
    """Return pytest's exit code and output."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment["PYTHONPATH"] = str(tree / "src")
    tiers = "statistical or not statistical"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", tiers, "--tb=line", *mutation.tests]
    run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def outcome(mutation: Mutation) -> tuple[str, str]:
    """Return what became of a mutation, and what pytest printed."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        tree = Path(folder)
        copy_tree(tree)
        try:
            apply(mutation, tree)
        except NoMatchError as error:
            return "NO MATCH", str(error)
        code, printed = run_tests(mutation, tree)
    if code == PASSED:
        return ("survived, with a bound" if mutation.bound else "SURVIVED"), mutation.bound
    if code == FAILED and re.search(r"AssertionError|: assert ", printed):
        return "caught", ""
    return "ERROR", printed


def main(wanted: list[str]) -> int:
    """Report every mutation whose name holds one of the words; return the exit code."""
    chosen = [mutation for mutation in MUTATIONS if not wanted or any(word in mutation.name for word in wanted)]
    good = True
    for mutation in chosen:
        start = time.monotonic()
        what, details = outcome(mutation)
        good &= what in ("caught", "survived, with a bound")
        print(f"{what:24}{time.monotonic() - start:6.0f} s  {mutation.name}", flush=True)
        if details:
            print(details, flush=True)
    return 0 if good and chosen else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
