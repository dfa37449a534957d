"""What a fit leaves that ends before its run has begun, and what can be done with it."""

import itertools
import shutil
import threading
import time
import uuid
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manifill
from manifill.base.errors import CannotResumeError
from manifill.run import begin, chains_to_draws
from manifill.run.folder import RunFolder
from manifill.run.run_files import own_files, remove_empty_folders
from manifill.run.verification import verify_run
from tests.run.runs import files_of, fit

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

SAID = r"^interrupted before the run began; fit again$"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    path = tmp_path_factory.mktemp("finished") / "run"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", manifill.ConvergenceWarning)
        fit(path)
    return RunFolder(path)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "run")


def assert_same(run: RunFolder, finished: RunFolder) -> None:
    """Assert that a folder holds this run and nothing else."""
    assert verify_run(run.path).damage == ()
    names, expected = ({file.relative_to(each.path) for file in files_of(each.path)} for each in (run, finished))
    assert names == expected
    ours, theirs = (manifill.load(each.path).posterior_.A[:] for each in (run, finished))
    np.testing.assert_array_equal(ours, theirs)


def stop(*_: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("locks", [(), ("run.lock",), ("run.lock", "chain-0.lock")], ids=str)
def test_locks_alone_are_no_run(locks: tuple[str, ...], run: RunFolder, finished: RunFolder) -> None:
    run.checkpoints.mkdir(parents=True)
    for name in locks:
        (run.checkpoints / name).touch()
    with pytest.raises(
        CannotResumeError, match="holds no run, so it cannot be resumed; leave resume=True out to begin"
    ):
        fit(run.path, resume=True, seed=None)
    assert {*run.path.rglob("*")} == {run.checkpoints, *(run.checkpoints / name for name in locks)}
    fit(run.path)
    assert_same(run, finished)


@pytest.mark.parametrize("name", ["notes.txt", "checkpoints/notes.txt", ".new-run/notes.txt"])
def test_foreign_files_next_to_locks_are_kept(name: str, run: RunFolder) -> None:
    (run.path / name).parent.mkdir(parents=True)
    (run.path / name).write_text("mine")
    run.checkpoints.mkdir(exist_ok=True)
    (run.checkpoints / "run.lock").touch()
    with pytest.raises(CannotResumeError, match="cannot be resumed"):
        fit(run.path, resume=True)
    for overwrite in (False, True):
        with pytest.raises(ValueError, match="choose another folder"):
            fit(run.path, overwrite=overwrite)
    assert files_of(run.path) == {run.path / name: b"mine"}


@pytest.mark.parametrize(
    ("stage", "kept"),
    [
        (".new-run", "nothing"),
        (".new-run", "data.npz"),
        (".new-run", "everything"),
        (".ready-run", "everything"),  # from here on all files are complete
        (".moving-run", "everything"),
    ],
)
def test_a_run_that_is_being_begun_is_resumed(stage: str, kept: str, run: RunFolder, finished: RunFolder) -> None:
    begun = RunFolder(shutil.copytree(finished.path, run.path / stage))
    begun.checkpoints.rename(run.checkpoints)
    for file in (*files_of(run.checkpoints), begun.verdict):
        file.unlink()
    for file in files_of(begun.path):
        if kept not in ("everything", file.name):
            file.unlink()
    remove_empty_folders(begun.draws)
    fit(run.path, resume=True)
    assert_same(run, finished)


def test_an_interrupt_before_anything_is_written(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains_to_draws.Request, "plan", stop)
    with pytest.raises(KeyboardInterrupt, match=SAID):
        fit(run.path)
    assert not run.path.exists()


def test_an_interrupt_while_the_run_is_written(
    run: RunFolder, finished: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(chains_to_draws, "create_store", stop)
        with pytest.raises(KeyboardInterrupt, match=SAID):
            fit(run.path)
    assert files_of(run.path) == {}
    with pytest.raises(CannotResumeError, match="leave resume=True out"):
        fit(run.path, resume=True)
    fit(run.path)
    assert_same(run, finished)


def test_an_interrupt_while_a_run_is_replaced(
    run: RunFolder, finished: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is a run then, the old one."""
    shutil.copytree(finished.path, run.path)
    monkeypatch.setattr(chains_to_draws, "create_store", stop)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        fit(run.path, overwrite=True)
    assert_same(run, finished)


class Busy:
    """A thread that writes, renames and removes files of a store, as those of Zarr do after an error."""

    def __init__(self, store: Path, seconds: float) -> None:
        self._store, self._end = store, time.monotonic() + seconds
        self._work_once(1)
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self) -> None:
        for k in itertools.count():
            if time.monotonic() > self._end:
                return
            with suppress(FileNotFoundError, FileExistsError):  # mkdir raises either if the folder is being removed
                self._work_once(k)

    def _work_once(self, number: int) -> None:
        array = self._store / "posterior" / f"x{number % 5}"
        array.mkdir(parents=True, exist_ok=True)
        partial = array / f"zarr.{uuid.uuid4().hex}.partial"
        partial.write_text("{}")
        if number % 2:
            partial.replace(array / "zarr.json")
        else:
            partial.unlink()


def begin_and_fail(run: RunFolder, seconds: float) -> Busy:
    """Begin a run whose files cannot be written, and return the thread that still writes some."""
    busy: list[Busy] = []

    def write(place: RunFolder) -> None:
        busy.append(Busy(place.draws, seconds))
        time.sleep(0.05)
        raise OSError("the disk is full")

    run.checkpoints.mkdir(parents=True)
    with pytest.raises(OSError, match=r"^the disk is full$"):
        begin.begin_run(run, write)
    return busy[0]


def test_a_new_run_is_discarded_while_threads_still_write(run: RunFolder) -> None:
    busy = begin_and_fail(run, 0.5)
    busy.thread.join()
    assert [*run.path.iterdir()] == [run.checkpoints]


def test_a_file_may_vanish_before_it_is_discarded(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def vanishing(folder: Path) -> list[Path]:
        found = own_files(folder)
        for file in found[:1]:
            file.unlink()
        return found

    monkeypatch.setattr(begin, "own_files", vanishing)
    begin_and_fail(run, 0.0)
    assert [*run.path.iterdir()] == [run.checkpoints]


def test_threads_that_do_not_end_are_not_waited_for(
    run: RunFolder, finished: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(begin, "MOST_REMOVALS", 3)
    busy = begin_and_fail(run, 2.0)
    assert busy.thread.is_alive()
    busy.thread.join()
    fit(run.path, resume=True)
    assert_same(run, finished)
