"""What an interrupted fit recommends: to resume the run that it began, and no other."""

from pathlib import Path

from manifill.cli.fit import _saying_how_to_continue
from manifill.run.folder import RunFolder


def interrupted(folder: Path, *, resume: bool, begins: bool) -> str:
    """Return the message of a fit that is interrupted after it has begun a run, or before."""
    try:
        with _saying_how_to_continue(Path("table.csv"), folder, resume=resume):
            if begins:
                begin(RunFolder(folder))
            raise KeyboardInterrupt("stopped")
    except KeyboardInterrupt as interrupt:
        return str(interrupt)


def begin(run: RunFolder) -> None:
    """Write the beginning of a run, in place of an earlier one."""
    run.draws.mkdir(parents=True, exist_ok=True)
    run.manifest.unlink(missing_ok=True)
    run.manifest.write_text("{}")


def test_a_run_that_was_begun_is_continued(tmp_path: Path) -> None:
    assert "--resume` continues" in interrupted(tmp_path / "run", resume=False, begins=True)
    assert "--resume` continues" in interrupted(tmp_path / "run", resume=True, begins=False)
    assert "--resume` continues" in interrupted(tmp_path / "run", resume=False, begins=True)  # with --overwrite


def test_a_run_that_was_to_be_replaced_is_not_continued(tmp_path: Path) -> None:
    interrupted(tmp_path / "run", resume=False, begins=True)
    assert interrupted(tmp_path / "run", resume=False, begins=False) == "stopped"


def test_without_a_run_nothing_is_recommended(tmp_path: Path) -> None:
    assert interrupted(tmp_path / "run", resume=False, begins=False) == "stopped"
