"""Runs of other formats, and changed defaults: an old run is what it was, or is marked, or is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import manifill
from manifill.base.errors import CannotResumeError
from manifill.estimators import arguments
from manifill.estimators.loading import UnverifiedRunWarning
from manifill.problem import column_spreads, default_priors
from manifill.run.folder import RunFolder
from manifill.run.manifest import write_manifest
from tests.estimators.tables import low_rank_table
from tests.run.runs import files_of, fit, make_of_earlier_noise, make_older

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

CASES: dict[str, dict[str, Any]] = {
    "baseline": {"sampler": "factors"},
    "effects": {"sampler": "gibbs", "warmup": 3, "draws": 4},
    "scaled columns": {"sampler": "factors", "column_scales": "standardize"},
    "fixed": {"sampler": "gibbs", "sigma": 0.5, "lambda_": 2.0, "warmup": 3, "draws": 4},
}


def change_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Change every default that a model is derived from."""
    for name, value in {"NOISE_SHARE": 0.7, "EFFECTS_SHARE": 0.5, "MEAN_WIDTH": 2.0, "NOISE_TAIL": 3.0}.items():
        monkeypatch.setattr(default_priors, name, value)
    monkeypatch.setattr(column_spreads, "EXTRA_CELLS", 100.0)
    for name in ("scaled_rate_prior", "scaled_noise_prior", "scaled_effects_prior"):
        monkeypatch.setattr(arguments, name, refuse)
    monkeypatch.setattr(column_spreads, "column_spreads", refuse)


def refuse(*_: Any, **__: Any) -> None:
    raise AssertionError("a run on disk derives nothing")


@pytest.mark.parametrize("name", CASES)
def test_a_changed_default_does_not_change_a_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = fit(tmp_path / "run", **CASES[name])
    change_defaults(monkeypatch)
    loaded = manifill.load(tmp_path / "run")
    assert loaded.model_ == fitted.model_
    for field, value in vars(fitted.model_).items():
        assert getattr(loaded.model_, field) == value, field
    assert loaded.verified_
    assert loaded.get_params() == fitted.get_params() | {"path": str(tmp_path / "run")}
    np.testing.assert_array_equal(loaded.posterior_.column_scales, fitted.posterior_.column_scales)
    np.testing.assert_array_equal(loaded.predict([0, 3], [1, 2]).upper, fitted.predict([0, 3], [1, 2]).upper)
    assert loaded.diagnostics_.verdict == fitted.diagnostics_.verdict


@pytest.mark.parametrize("name", ["baseline", "scaled columns"])
def test_a_run_is_resumed_with_its_own_priors(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fit(tmp_path / "whole", **CASES[name], draws=60)
    first = fit(tmp_path / "run", **CASES[name])
    change_defaults(monkeypatch)
    resumed = fit(tmp_path / "run", **CASES[name], draws=60, resume=True)
    assert resumed.model_ == first.model_ == whole.model_
    np.testing.assert_array_equal(resumed.posterior_.A[:], whole.posterior_.A[:])
    np.testing.assert_array_equal(resumed.posterior_.sigma[:], whole.posterior_.sigma[:])


def test_draws_in_memory_hold_the_resolved_model_too(tmp_path: Path) -> None:
    on_disk = fit(tmp_path / "run").posterior_.attributes
    in_memory = fit(None).posterior_.attributes
    assert in_memory["model"] == on_disk["model"]


def test_a_run_of_the_older_format_is_read_and_marked(tmp_path: Path) -> None:
    fitted = fit(tmp_path / "run")
    make_older(tmp_path / "run")
    before = files_of(tmp_path / "run")
    with pytest.warns(UnverifiedRunWarning, match="derived again from the data, so the model is not verified"):
        loaded = manifill.load(tmp_path / "run")
    assert not loaded.verified_
    assert loaded.posterior_.attributes["verified"] is False
    assert loaded.model_ == fitted.model_  # as no default has changed
    np.testing.assert_array_equal(loaded.predict([0], [1]).mean, fitted.predict([0], [1]).mean)
    assert files_of(tmp_path / "run") == before


def test_a_run_of_the_older_format_is_never_resumed(tmp_path: Path) -> None:
    fit(tmp_path / "run")
    make_older(tmp_path / "run")
    before = files_of(tmp_path / "run")
    for draws in (40, 60):
        with pytest.raises(CannotResumeError, match=r"it has the format 2, .* resumes the format 3 only"):
            fit(tmp_path / "run", resume=True, draws=draws)
    assert files_of(tmp_path / "run") == before


@pytest.mark.parametrize("number", [1, 4, "new"], ids=str)
def test_an_unknown_format_is_refused_and_left_alone(number: Any, tmp_path: Path) -> None:
    fit(tmp_path / "run")
    make_older(tmp_path / "run", number)
    before = files_of(tmp_path / "run")
    said = f"has the format {number!r}, and this version of manifill reads the formats 2 and 3"
    with pytest.raises(ValueError, match=said):
        manifill.load(tmp_path / "run")
    with pytest.raises(CannotResumeError, match=said):
        fit(tmp_path / "run", resume=True)
    assert files_of(tmp_path / "run") == before


def test_a_run_that_has_lost_its_model_is_refused(tmp_path: Path) -> None:
    fit(tmp_path / "run")
    make_older(tmp_path / "run")
    zarr.open_group(tmp_path / "run" / "draws.zarr", mode="r+").attrs["manifill_format"] = 3
    write_manifest(RunFolder(tmp_path / "run"))
    with pytest.raises(ValueError, match=r"the model of .* cannot be read: model must have the fields rank"):
        manifill.load(tmp_path / "run")


@pytest.mark.parametrize("damage", ["half", "gone"])
def test_a_damaged_store_is_never_begun_again(damage: str, tmp_path: Path) -> None:
    fit(tmp_path / "run")
    metadata = tmp_path / "run" / "draws.zarr" / "zarr.json"
    if damage == "half":
        metadata.write_text(metadata.read_text()[:100])
    else:
        metadata.unlink()
    before = files_of(tmp_path / "run")
    with pytest.raises(CannotResumeError, match=r"draws\.zarr/zarr\.json is (damaged|missing)"):
        fit(tmp_path / "run", resume=True)
    assert files_of(tmp_path / "run") == before


def test_a_store_that_was_not_made_to_the_end_is_made_again(tmp_path: Path) -> None:
    whole, run = tmp_path / "whole", tmp_path / "run"
    fit(whole)
    (run / "checkpoints").mkdir(parents=True)
    zarr.open_group(run / "draws.zarr", mode="w").create_group("posterior")
    fit(run, resume=True)
    np.testing.assert_array_equal(manifill.load(run).posterior_.A[:], manifill.load(whole).posterior_.A[:])


def test_other_peoples_files_in_the_place_of_the_store_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    (tmp_path / "run" / "draws.zarr").mkdir()
    (tmp_path / "run" / "draws.zarr" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"files that are not of a run: draws\.zarr/notes\.txt; move them elsewhere"):
        fit(tmp_path / "run", low_rank_table()[1], resume=True)
    assert (tmp_path / "run" / "draws.zarr" / "notes.txt").read_text() == "mine"


def test_a_run_from_before_noise_by_row_is_read_but_not_resumed(tmp_path: Path) -> None:
    fitted = fit(tmp_path / "run")
    make_of_earlier_noise(tmp_path / "run")
    before = files_of(tmp_path / "run")
    loaded = manifill.load(tmp_path / "run")
    assert loaded.verified_
    np.testing.assert_array_equal(loaded.predict([0, 3], [1, 2]).upper, fitted.predict([0, 3], [1, 2]).upper)
    with pytest.raises(CannotResumeError, match="begun by an earlier version of manifill; predict from it, or fit"):
        fit(tmp_path / "run", resume=True, draws=60)
    assert files_of(tmp_path / "run") == before
