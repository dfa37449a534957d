"""A checkpoint that cannot be read stops a continuation before anything in the run has changed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from manifill.base.errors import CannotResumeError
from manifill.run.folder import RunFolder
from manifill.sampling import checkpoint
from tests.run.runs import files_of, fit

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-50])


def flip_a_digit(path: Path) -> None:
    whole = path.read_bytes()
    position = whole.index(b'"iteration": 60') + len(b'"iteration": ')
    path.write_bytes(whole[:position] + b"2" + whole[position + 1 :])


def raise_the_format(path: Path) -> None:
    with np.load(path) as file:
        arrays = dict(file)
    text = arrays["tree"].tobytes().replace(f'"format": {checkpoint.FORMAT}'.encode(), b'"format": 99')
    np.savez(path, **(arrays | {"tree": np.frombuffer(text, dtype=np.uint8)}))


@pytest.mark.parametrize("damage", [truncate, flip_a_digit, raise_the_format])
def test_it_is_reported_and_costs_no_draws(damage: Callable[[Path], None], tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    fit(run.path)
    damage(run.checkpoints / "chain-1.npz")
    before = files_of(run.path)
    with pytest.raises(CannotResumeError, match=r"chain-1\.npz cannot be read .* delete it: the chain then starts"):
        fit(run.path, resume=True, draws=60)
    assert files_of(run.path) == before


def test_the_advice_helps(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    fit(run.path)
    (run.checkpoints / "chain-1.npz").unlink()
    resumed, whole = fit(run.path, resume=True, draws=60), fit(tmp_path / "whole", draws=60)
    np.testing.assert_array_equal(resumed.posterior_.A[:], whole.posterior_.A[:])
