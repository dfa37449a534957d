"""Held-out cells: in the run before its first iteration, read back on resume, and the same ones then."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manifill.base.errors import CannotResumeError
from manifill.problem import Observations, from_array
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations, save_observations
from manifill.run.provenance import fingerprint
from manifill.run.resume import attributes_to_resume
from manifill.run.split import choose_held_out, divided_as_before
from manifill.sampling.factor_gibbs import Factors
from tests.estimators.tables import low_rank_table
from tests.run.runs import files_of, fit

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

EVERY = from_array(low_rank_table(m=40, n=20)[1])


def split() -> tuple[Observations, Observations]:
    train, held_out = choose_held_out(EVERY, 0.1, seed=3)
    assert held_out is not None
    return train, held_out


def test_they_are_written_before_the_first_iteration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> None:
        raise RuntimeError("at the first iteration")

    train, held_out = split()
    monkeypatch.setattr(Factors, "step", stop)
    with pytest.raises(RuntimeError, match="at the first iteration"):
        fit(tmp_path / "run", train, held_out=held_out)
    monkeypatch.undo()
    run = RunFolder(tmp_path / "run")
    assert fingerprint(load_observations(run.held_out)) == fingerprint(held_out)
    resumed = fit(run.path, train, held_out=held_out, resume=True)
    whole = fit(tmp_path / "whole", train, held_out=held_out)
    np.testing.assert_array_equal(resumed.posterior_.A[:], whole.posterior_.A[:])


def test_they_are_read_back_not_chosen_again(tmp_path: Path) -> None:
    train, held_out = split()
    fit(tmp_path / "run", train, held_out=held_out)
    run = RunFolder(tmp_path / "run")
    attributes = attributes_to_resume(run)
    assert attributes is not None
    again, found = divided_as_before(run, attributes, EVERY)
    assert found is not None
    assert fingerprint(again) == fingerprint(train)
    assert fingerprint(found) == fingerprint(held_out)
    for given in (held_out, None):  # a continuation need not give them
        fit(run.path, train, held_out=given, resume=True)
        assert fingerprint(load_observations(run.held_out)) == fingerprint(held_out)


def test_other_held_out_cells_are_refused(tmp_path: Path) -> None:
    train, held_out = split()
    fit(tmp_path / "run", train, held_out=held_out)
    fit(tmp_path / "without", train)
    before = files_of(tmp_path)
    for name, said in (("run", "48 .fingerprint .* in the run, 47 "), ("without", "none in the run, 47")):
        with pytest.raises(CannotResumeError, match=f"the held-out cells differ: {said}"):
            fit(tmp_path / name, train, held_out=held_out.subset(np.arange(held_out.size - 1)), resume=True)
    assert files_of(tmp_path) == before


def test_data_with_other_values_in_held_out_cells_are_refused(tmp_path: Path) -> None:
    train, held_out = split()
    fit(tmp_path / "run", train, held_out=held_out)
    run = RunFolder(tmp_path / "run")
    attributes = attributes_to_resume(run)
    assert attributes is not None
    rows, cols, values = held_out.triples()
    save_observations(run.held_out, Observations.from_triples(rows, cols, values + 1.0, held_out.shape))
    with pytest.raises(CannotResumeError, match="the held-out cells differ"):
        divided_as_before(run, attributes, EVERY)
    run.held_out.unlink()
    with pytest.raises(CannotResumeError, match="cannot be resumed without its held-out cells"):
        divided_as_before(run, attributes, EVERY)


def test_what_cannot_be_held_out_is_refused(tmp_path: Path) -> None:
    train, held_out = split()
    with pytest.raises(ValueError, match="48 cells of held_out are also in the data"):
        fit(tmp_path / "run", EVERY, held_out=held_out)
    with pytest.raises(ValueError, match=r"held_out has the shape \(14, 9\)"):
        fit(tmp_path / "run", train, held_out=from_array(low_rank_table()[1]))
    with pytest.raises(ValueError, match="held_out is stored in a run on disk"):
        fit(None, train, held_out=held_out)
    assert not (tmp_path / "run").exists()


def test_few_cells_are_all_fitted() -> None:
    few = EVERY.subset(np.arange(199))
    assert choose_held_out(few, 0.5, seed=1) == (few, None)
    assert choose_held_out(EVERY, 0.0, seed=1) == (EVERY, None)
