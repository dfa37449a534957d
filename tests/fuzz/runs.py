"""Runs whose files were damaged, or changed on purpose: loaded, verified, and read as a continuation reads them."""

import os
import warnings
from pathlib import Path
from random import Random

from manifill import ConvergenceWarning
from manifill.estimators.loading import DamagedRunWarning, UnverifiedRunWarning
from tests.fuzz.case import Case, Target, assert_documented
from tests.fuzz.damage import damaged
from tests.fuzz.inline_zarr import zarr_in_this_thread
from tests.fuzz.run_readings import READINGS, Answer, whole_answer
from tests.fuzz.sealed_changes import changed_and_sealed
from tests.fuzz.valid_runs import valid_run

__all__ = ["RUNS"]

# Runs and how often they occur: those with fewer arrays take less time.
WEIGHTS = {"small": 10, "two chains": 3, "scaled": 3, "older": 2, "effects": 1, "binomial": 1}
MISSING = "missing"
PARTIAL = ("chains", "continuation")  # readings whose answer may lack chains
WARNINGS = (ConvergenceWarning, DamagedRunWarning, UnverifiedRunWarning)


def make(random: Random) -> Case:
    """Return the files of a run that is damaged, or whose contents are odd, and how it is read."""
    (name,) = random.choices(list(WEIGHTS), list(WEIGHTS.values()))
    run = valid_run(name)
    (reading,) = random.choices(list(READINGS), [each.weight for each in READINGS.values()])
    arguments = {"run": name, "reading": reading, "is_sealed": True}
    if random.random() < 0.4:
        return Case(changed_and_sealed(random, run.files), arguments)
    found = damaged(random, run.files)
    arguments["is_sealed"] = found.is_sealed or not run.has_checksums
    return Case(found.files, arguments, found.folders, found.links)


def check(folder: Path, case: Case) -> str:
    """Read the run: the answer is that of the undamaged run, or a documented error.

    If the checksums were made valid again, the answer may be another one.
    """
    name, reading, is_sealed = (case.arguments[key] for key in ("run", "reading", "is_sealed"))
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        try:
            with zarr_in_this_thread():
                found = READINGS[reading].answer(folder, name)
        except ValueError as error:
            assert_documented(error, str(folder))
            return "refused"
        finally:
            assert _sizes(folder) == {name: len(content) for name, content in case.files.items()}
    allowed = (*WARNINGS, RuntimeWarning) if is_sealed else WARNINGS  # draws may be as large as numbers can be
    for warning in issued:
        assert issubclass(warning.category, allowed), warning.message
        assert "\n" not in str(warning.message)
    if is_sealed:
        return "read"
    if reading == "verification":
        return _check_verified(folder, case, found)
    whole = whole_answer(name, reading)
    assert bool(found) == bool(whole)
    assert found == {key: whole[key] for key in (found if reading in PARTIAL else whole)}
    return "same"


def _check_verified(folder: Path, case: Case, found: Answer) -> str:
    """Check that the damaged files of a run are named, and no others."""
    whole = valid_run(case.arguments["run"]).files
    contents = {name: _content(folder / name) for name in whole}
    damaged = {name for name, content in whole.items() if contents[name] != content}
    if contents["verdict.json"] is MISSING:
        damaged.discard("verdict.json")  # an interrupted run has none
    assert bool(found) >= bool(damaged), damaged
    assert bool(found) <= bool(damaged) or case.files.keys() - whole.keys(), found
    return "damaged" if found else "same"


def _content(path: Path) -> bytes | str:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return MISSING
    except (OSError, ValueError):
        return "unreadable"


def _sizes(folder: Path, prefix: str = "") -> dict[str, int]:
    """Return the sizes of all files in a folder, without links."""
    found: dict[str, int] = {}
    for entry in os.scandir(folder / prefix):
        name = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            found |= _sizes(folder, f"{name}/")
        elif not entry.is_symlink():
            found[name] = entry.stat().st_size
    return found


RUNS = Target("runs", make, check)
