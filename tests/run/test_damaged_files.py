"""Every file of a run damaged in turn: the answers are those of the undamaged run, or the file is named."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manifill
from manifill import DamagedRunError
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

# Variables of the factors sampler that no prediction needs, and coordinates of the store.
UNUSED = {"chain", "draw", "tau_A", "tau_B", "row_effect_sd", "column_effect_sd"}
UNUSED |= {"row_noise_width", "column_noise_width"}

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

TRAIN, HELD_OUT = choose_held_out(from_array(low_rank_table(m=40, n=20)[1]), 0.1, seed=3)
SETTINGS: dict[str, Any] = {"warmup": 5, "draws": 8}

ONE_OF_EACH = (
    "manifest.json",
    "data.npz",
    "held_out.npz",
    "checkpoints/chain-1.npz",
    "draws.zarr/zarr.json",
    "draws.zarr/posterior/zarr.json",
    "draws.zarr/posterior/A/zarr.json",
    "draws.zarr/posterior/A/c/1/0/0/0",
    "draws.zarr/posterior/sigma/c/0/0",
    "draws.zarr/posterior/draw/c/0",
    "draws.zarr/sample_stats/lp/c/0/0",
    "draws.zarr/progress/completed/c/1",
)

Damage = Callable[[bytes], list[bytes | None]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Return a run with several chunks per chain."""
    path = tmp_path_factory.mktemp("damaged") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zarr_store, "CHUNK_BYTES", 3 * 40 * 2 * 4)
        with pytest.warns(manifill.ConvergenceWarning):
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


def answers(path: Path) -> tuple[Array, ...] | str:
    """Return what a run predicts, or what is said if it is damaged."""
    try:
        model = manifill.load(path)
        found = model.predict([0, 3, 39], [1, 2, 19])
        return found.mean, found.lower, found.upper, model.posterior_.A[:], model.posterior_.statistics["lp"]
    except DamagedRunError as error:
        return str(error)


def resumed(path: Path) -> Array | str:
    """Return the draws of a run that is resumed, or what is said if it cannot be."""
    try:
        return np.asarray(fit(path, TRAIN, held_out=HELD_OUT, resume=True, **SETTINGS).posterior_.A[:])
    except (CannotResumeError, DamagedRunError) as error:
        return str(error)


@pytest.mark.parametrize("damage", [one_byte, cut, lost])
def test_answers_are_right_or_the_file_is_named(damage: Damage, run: RunFolder) -> None:
    whole = answers(run.path)
    named, harmless = set(), set()
    for file in damaged(run, damage):
        found = answers(run.path)
        if isinstance(found, str):
            assert f"{file} is " in found
            assert found.endswith(".")
            assert "\n" not in found
            named.add(file)
        else:
            for ours, theirs in zip(found, whole, strict=True):
                np.testing.assert_array_equal(ours, theirs, err_msg=str(file))
            harmless.add(file)
        if file != run.verdict or file.exists():  # an interrupted run has no verdict
            assert file in [one.file for one in verify_run(run.path).damage], file
    # Checkpoints, coordinates for xarray and the parameters of priors are not needed for predictions.
    unused = {file.relative_to(run.path).parts[:3] for file in harmless - named}
    assert {parts[0] for parts in unused} <= {"checkpoints", "draws.zarr", "verdict.json"}
    assert {parts[2] for parts in unused if parts[0] == "draws.zarr"} <= UNUSED
    assert {run.data, run.held_out, run.manifest} <= named


def test_a_damaged_run_is_resumed_to_the_same_draws_or_refused(run: RunFolder, tmp_path: Path) -> None:
    """One file of each kind."""
    whole = manifill.load(run.path).posterior_.A[:]
    for k, name in enumerate(ONE_OF_EACH):
        copy = shutil.copytree(run.path, tmp_path / str(k))
        content = one_byte((copy / name).read_bytes())[1]
        assert content is not None
        (copy / name).write_bytes(content)
        before = files_of(copy)
        found = resumed(copy)
        if name == "draws.zarr/posterior/draw/c/0":  # which nothing depends on
            np.testing.assert_array_equal(found, whole)
        else:
            assert str(copy / name) in str(found)
        after = files_of(copy)
        assert before.keys() <= after.keys()
        assert after[copy / name] == content


def test_an_intact_run_is_intact(run: RunFolder) -> None:
    found = verify_run(run.path)
    assert (found.files, found.has_checksums, found.damage) == (len(own_files(run.path)), True, ())
