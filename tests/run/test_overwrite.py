"""What exists is replaced only if asked for by name, and then only files of a run."""

import shutil
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manifill
from manifill.base.atomic_files import locked
from manifill.base.errors import CannotResumeError
from manifill.posterior import zarr_store
from manifill.run import begin
from manifill.run.folder import RunFolder
from manifill.run.run_files import remove_empty_folders
from manifill.run.verification import verify_run
from tests.run.runs import files_of, fit, make_older

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two runs: an old one, and the one that is to replace it."""
    folder = tmp_path_factory.mktemp("finished")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", manifill.ConvergenceWarning)
        fit(folder / "old", chains=3, draws=50)
        fit(folder / "new")
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> RunFolder:
    return RunFolder(shutil.copytree(finished / "old", tmp_path / "run"))


def assert_new(run: RunFolder, finished: Path) -> None:
    """Assert that the folder holds the run of the default settings and nothing of another one."""
    assert verify_run(run.path).damage == ()
    names, expected = ({file.relative_to(path) for file in files_of(path)} for path in (run.path, finished / "new"))
    assert names == expected
    ours, theirs = (manifill.load(path).posterior_.A[:] for path in (run.path, finished / "new"))
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", ["whole", "older", "newer", "damaged", "without a manifest", "reported"])
def test_a_run_is_replaced_on_request_only(kind: str, run: RunFolder, finished: Path) -> None:
    if kind in ("older", "newer"):
        make_older(run.path, 2 if kind == "older" else 9)
    if kind == "damaged":
        (run.draws / "zarr.json").write_text("{")
    if kind == "without a manifest":
        run.manifest.unlink()
    if kind == "reported":
        run.report.write_text("<html>")
    before = files_of(run.path)
    with pytest.raises(
        ValueError, match=r"already exists; .*, resume the run .*resume=True.* or replace it \(overwrite"
    ):
        fit(run.path)
    if kind not in ("whole", "reported"):
        with pytest.raises(CannotResumeError, match="cannot be resumed"):
            fit(run.path, resume=True)
    assert files_of(run.path) == before
    fit(run.path, overwrite=True)
    assert_new(run, finished)


def test_a_run_is_begun_where_there_is_none(tmp_path: Path, finished: Path) -> None:
    fit(tmp_path / "run", overwrite=True)
    assert_new(RunFolder(tmp_path / "run"), finished)
    (tmp_path / "empty").mkdir()
    fit(tmp_path / "empty", overwrite=True)


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "draws.zarr/notes.txt",
        "draws.zarr/mine/zarr.json",
        "draws.zarr/posterior/A/c/notes.txt",
        "draws.zarr/posterior/A/1/0",
        "checkpoints/chain-0.npz.bak",
    ],
)
@pytest.mark.parametrize("is_link", [False, True])
def test_foreign_files_are_named_and_kept(name: str, is_link: bool, run: RunFolder) -> None:
    (run.path / name).parent.mkdir(exist_ok=True)
    if is_link:
        (run.path / name).symlink_to(run.data)
    else:
        (run.path / name).write_text("mine")
    before = files_of(run.path)
    with pytest.raises(ValueError, match=f"holds files that are not of a run: {name}; move them elsewhere"):
        fit(run.path, overwrite=True)
    assert files_of(run.path) == before
    manifill.load(run.path)  # which does not mind


def test_a_folder_that_is_no_run_is_kept(tmp_path: Path) -> None:
    (tmp_path / "data.npz").write_text("mine")
    with pytest.raises(ValueError, match="is not a manifill run and is not overwritten"):
        fit(tmp_path, overwrite=True)
    with pytest.raises(ValueError, match="already exists; choose another folder"):
        fit(tmp_path)
    with pytest.raises(CannotResumeError, match="is not a manifill run and cannot be resumed"):
        fit(tmp_path, resume=True)
    with pytest.raises(ValueError, match="is a file"):
        fit(tmp_path / "data.npz", overwrite=True)
    assert files_of(tmp_path) == {tmp_path / "data.npz": b"mine"}


def test_a_link_in_the_place_of_a_file_is_kept(run: RunFolder, tmp_path: Path) -> None:
    run.data.rename(tmp_path / "elsewhere.npz")
    run.data.symlink_to(tmp_path / "elsewhere.npz")
    manifill.load(run.path)
    with pytest.raises(ValueError, match=r"not of a run: data\.npz"):
        fit(run.path, overwrite=True)


def test_both_wishes_at_once_are_refused(run: RunFolder) -> None:
    with pytest.raises(ValueError, match="give one of them"):
        fit(run.path, resume=True, overwrite=True)
    with pytest.raises(ValueError, match="overwrite applies to a run on disk"):
        fit(None, overwrite=True)


@pytest.mark.parametrize("fault", ["arguments", "data", "store", "manifest", "other process"])
def test_the_old_run_is_kept_if_the_new_one_cannot_be_begun(
    fault: str, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError("no")

    changes: dict[str, Any] = {}
    before = files_of(run.path)
    if fault == "arguments":
        changes["rank"] = 99
    if fault == "data":
        changes["data"] = np.array([[1.0, np.inf]])
    if fault == "store":
        monkeypatch.setattr(zarr_store, "_create_array", fail)
    if fault == "manifest":
        monkeypatch.setattr(begin, "write_manifest", fail)
    lock = run.checkpoints / ("run.lock" if fault == "other process" else "none.lock")
    with locked(lock, wait=False), pytest.raises((ValueError, OSError)):
        fit(run.path, overwrite=True, **changes)
    assert files_of(run.path) == before


def count_steps(monkeypatch: pytest.MonkeyPatch, last: int | None) -> list[str]:
    """Count the changes to folders, and stop the process, as it were, at one of them."""
    done: list[str] = []

    def counting(name: str) -> Any:
        original = getattr(Path, name)

        def step(self: Path, *given: Any, **named: Any) -> Any:
            if threading.current_thread() is threading.main_thread() and "run" in self.parts:
                if len(done) == last:
                    raise KeyboardInterrupt
                done.append(f"{name} {self.name}")
            return original(self, *given, **named)

        return step

    for name in ("rename", "unlink", "rmdir"):
        monkeypatch.setattr(Path, name, counting(name))
    return done


def test_a_replacement_stopped_anywhere_is_completed_or_never_began(finished: Path, tmp_path: Path) -> None:
    old, new = (manifill.load(finished / name).posterior_.A[:] for name in ("old", "new"))
    with pytest.MonkeyPatch.context() as patch:
        steps = count_steps(patch, None)
        fit(Path(shutil.copytree(finished / "old", tmp_path / "whole" / "run")), overwrite=True)
    decisive = [k for k, step in enumerate(steps) if step.startswith("rename")]
    assert [steps[k] for k in decisive][:2] == ["rename .new-run", "rename .ready-run"]
    between = sum(decisive[:2]) // 2  # in the middle of the removal
    for last in (*decisive, between, decisive[-1] + 1):
        path = Path(shutil.copytree(finished / "old", tmp_path / f"{last}" / "run"))
        with pytest.MonkeyPatch.context() as patch:
            count_steps(patch, last)
            with pytest.raises(KeyboardInterrupt):
                fit(path, overwrite=True)
        if last == decisive[0]:
            np.testing.assert_array_equal(manifill.load(path).posterior_.A[:], old)
            continue
        with pytest.raises(ValueError, match="stopped while it was begun; continue it by a fit with resume=True"):
            manifill.load(path)
        np.testing.assert_array_equal(fit(path, resume=True).posterior_.A[:], new)
        assert verify_run(path).damage == ()


def test_what_is_left_of_a_beginning_is_begun_again(tmp_path: Path, finished: Path) -> None:
    run = RunFolder(tmp_path / "run")
    (run.path / ".new-run" / "draws.zarr" / "posterior").mkdir(parents=True)
    (run.path / ".new-run" / "data.npz").write_bytes(b"half")
    (run.path / ".new-run" / "draws.zarr" / "zarr.json").write_text("{}")
    run.checkpoints.mkdir()
    with pytest.raises(ValueError, match="already exists"):
        fit(run.path)
    fit(run.path, resume=True)
    assert_new(run, finished)


def test_locks_alone_do_not_occupy_a_folder(tmp_path: Path, finished: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.checkpoints.mkdir(parents=True)
    (run.checkpoints / "run.lock").touch()
    fit(run.path)
    assert_new(run, finished)


@pytest.mark.parametrize("kept", ["data.npz", "report.html", "checkpoints/chain-0.npz", "draws.zarr"])
def test_what_is_left_of_a_run_is_not_begun_again(kept: str, run: RunFolder) -> None:
    """A run that has lost its manifest, and perhaps its draws, is not taken for one that was never begun."""
    run.report.write_text("<html>")
    for file in files_of(run.path):
        if kept not in str(file):
            file.unlink()
    remove_empty_folders(run.draws)
    before = files_of(run.path)
    assert before
    with pytest.raises(CannotResumeError, match=r"cannot be resumed: it holds .*, but .*manifest\.json is missing"):
        fit(run.path, chains=3, resume=True)
    assert files_of(run.path) == before


def test_somebody_elses_store_is_not_begun_again(tmp_path: Path) -> None:
    import zarr

    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    for make in ("attributes", "arrays"):
        root = zarr.open_group(tmp_path / "run" / "draws.zarr", mode="w")
        if make == "attributes":
            root.attrs["mine"] = 1
        else:
            root.create_group("posterior").create_array("x", data=np.arange(3.0), dimension_names=("x",))
        before = files_of(tmp_path)
        with pytest.raises(CannotResumeError, match="cannot be resumed"):
            fit(tmp_path / "run", resume=True)
        assert files_of(tmp_path) == before
