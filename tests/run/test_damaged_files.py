"""Every file of a run damaged in turn: the answers are those of the undamaged run, or the file is named."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manifill
from manifill import DamagedRunError, MatrixCompletion
from manifill.base.arrays import Array
from manifill.base.errors import CannotResumeError
from manifill.posterior import zarr_store
from manifill.problem import from_array
from manifill.run.folder import RunFolder
from manifill.run.run_files import own_files
from manifill.run.split import choose_held_out
from manifill.run.verification import verify_run
from tests.estimators.tables import low_rank_table
from tests.run.runs import files_of, fit

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

TRAIN, HELD_OUT = choose_held_out(from_array(low_rank_table(m=40, n=20)[1]), 0.1, seed=3)
SETTINGS: dict[str, Any] = {"warmup": 5, "draws": 8}

Damage = Callable[[bytes], list[bytes | None]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Return a run with several chunks per chain."""
    path = tmp_path_factory.mktemp("damaged") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zarr_store, "CHUNK_BYTES", 3 * 40 * 2 * 4)
        fit(path, TRAIN, held_out=HELD_OUT, **SETTINGS)
    return RunFolder(path)


def one_byte(content: bytes) -> list[bytes | None]:
    """Change a bit at the beginning, in the middle and at the end."""
    places = (0, len(content) // 2, len(content) - 1)
    return [content[:k] + bytes([content[k] ^ 1 << k % 8]) + content[k + 1 :] for k in places]


def cut(content: bytes) -> list[bytes | None]:
    return [b"", content[:-1]]


def lost(content: bytes) -> list[bytes | None]:
    return [None]


def damaged(run: RunFolder, damage: Damage) -> Iterator[Path]:
    """Damage one file after another; check each time that nothing else has changed, and undo it."""
    whole = files_of(run.path)
    for file in own_files(run.path):
        for content in damage(whole[file]):
            file.unlink()
            if content is not None:
                file.write_bytes(content)
            yield file
            expected = whole | {file: content}
            assert files_of(run.path) == {path: bytes_ for path, bytes_ in expected.items() if bytes_ is not None}
            file.write_bytes(whole[file])


def answers(model: MatrixCompletion) -> tuple[Array, ...]:
    found = model.predict([0, 3, 39], [1, 2, 19])
    return found.mean, found.lower, found.upper, model.posterior_.A[:], model.posterior_.statistics["lp"]


def check_message(message: str, file: Path, predicate: str = " is ") -> None:
    """Check that a message is one line that names the file."""
    assert f"{file}{predicate}" in message
    assert "\n" not in message


@pytest.mark.parametrize("damage", [one_byte, cut, lost])
def test_answers_are_right_or_the_file_is_named(damage: Damage, run: RunFolder) -> None:
    whole = answers(manifill.load(run.path))
    named, harmless = set(), set()
    for file in damaged(run, damage):
        try:
            found = answers(manifill.load(run.path))
        except DamagedRunError as error:
            check_message(str(error), file)
            named.add(file)
        else:
            for ours, theirs in zip(found, whole, strict=True):
                np.testing.assert_array_equal(ours, theirs, err_msg=str(file))
            harmless.add(file)
        if file != run.verdict or file.exists():  # an interrupted run has no verdict
            assert file in [one.file for one in verify_run(run.path).damage], file
    # Checkpoints, coordinates for xarray and the precision τ are not needed for predictions.
    unused = {file.relative_to(run.path).parts[:3] for file in harmless - named}
    assert {parts[0] for parts in unused} <= {"checkpoints", "draws.zarr", "verdict.json"}
    assert {parts[2] for parts in unused if parts[0] == "draws.zarr"} <= {"chain", "draw", "tau"}
    assert {run.data, run.held_out, run.manifest} <= named


def test_a_damaged_run_is_resumed_to_the_same_draws_or_refused(run: RunFolder, tmp_path: Path) -> None:
    """One file of each kind."""
    whole = manifill.load(run.path).posterior_.A[:]
    posterior, statistics = Path("draws.zarr/posterior"), Path("draws.zarr/sample_stats")
    names: tuple[str | Path, ...] = (
        "manifest.json", "data.npz", "held_out.npz", "checkpoints/chain-1.npz", "draws.zarr/zarr.json",
        posterior / "zarr.json", posterior / "A/zarr.json", posterior / "A/c/1/0/0/0", posterior / "sigma/c/0/0",
        posterior / "draw/c/0", statistics / "lp/c/0/0", "draws.zarr/progress/completed/c/1",
    )  # fmt: skip
    for k, name in enumerate(names):
        copy = shutil.copytree(run.path, tmp_path / str(k))
        content = one_byte((copy / name).read_bytes())[1]
        assert content is not None
        (copy / name).write_bytes(content)
        before = files_of(copy)
        try:
            found = fit(copy, TRAIN, held_out=HELD_OUT, resume=True, **SETTINGS)
        except (CannotResumeError, DamagedRunError) as error:
            check_message(str(error), copy / name, "")
        else:
            assert name == posterior / "draw/c/0"
            np.testing.assert_array_equal(found.posterior_.A[:], whole)
        after = files_of(copy)
        assert before.keys() <= after.keys()
        assert after[copy / name] == content


def test_an_intact_run_is_intact(run: RunFolder) -> None:
    found = verify_run(run.path)
    assert (found.files, found.has_checksums, found.damage) == (len(own_files(run.path)), True, ())
