"""Components of a given rank that are off, dropped before the chains start."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manifill import MatrixCompletion, load
from manifill.base.arrays import Matrix
from manifill.problem import from_array
from manifill.report.report_data import collect_report_data
from manifill.report.sections.run_description import describe_run

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

GIVEN = 20
SHORT: dict[str, Any] = {"rank": GIVEN, "chains": 2, "warmup": 5, "draws": 5, "seed": 3, "jobs": 1, "progress": False}
SHORT |= {"column_transform": None}


@pytest.fixture(scope="module")
def cells() -> Matrix:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 30)) + 0.3 * rng.normal(size=(80, 30))
    X[rng.random(X.shape) < 0.3] = np.nan
    return np.asarray(X)


def fitted(cells: Matrix, **settings: Any) -> MatrixCompletion:
    return MatrixCompletion(**(SHORT | settings)).fit(cells)


def test_they_are_dropped_announced_stored_and_not_searched_for_again(
    cells: Matrix, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="manifill"):
        model = fitted(cells, path=tmp_path / "run")
    kept = model.model_.rank
    assert 3 <= kept < GIVEN
    assert f"rank {GIVEN}: {GIVEN - kept} components dropped as off, {kept} kept" in caplog.text
    assert model.posterior_.A.shape[-1] == kept
    caplog.clear()
    longer = MatrixCompletion(**(SHORT | {"draws": 8, "path": tmp_path / "run"})).fit(cells, resume=True)
    assert "dropped" not in caplog.text
    assert (longer.model_.rank, longer.posterior_.draws) == (kept, 8)
    np.testing.assert_array_equal(longer.posterior_.A, np.float32(fitted(cells, draws=8).posterior_.A))  # as stored
    again = load(tmp_path / "run")
    assert (again.rank, again.off_components, again.model_) == (GIVEN, "drop", model.model_)
    summary = describe_run(collect_report_data(again, None)).summary
    assert f"fitted at rank {kept} ({GIVEN} less {GIVEN - kept} components that were off)" in summary


def test_draws_do_not_depend_on_the_number_of_processes(cells: Matrix) -> None:
    np.testing.assert_array_equal(fitted(cells).posterior_.A, fitted(cells, jobs=2).posterior_.A)


def test_the_prior_is_that_of_the_given_rank(cells: Matrix) -> None:
    dropped, kept = fitted(cells).model_, fitted(cells, off_components="keep").model_
    assert kept.rank == GIVEN
    assert replace(dropped, rank=GIVEN) == kept


@pytest.mark.parametrize(
    "settings",
    [
        {"rank": 16},
        {"sampler": "gibbs", "max_depth": 1},
        {"sampler": "factors", "noise_prior": "paper", "effects": None},
    ],
)
def test_small_ranks_and_the_models_of_the_paper_are_kept(
    cells: Matrix, settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="manifill"):
        model = fitted(cells, **settings)
    assert model.model_.rank == settings.get("rank", GIVEN)
    assert "dropped" not in caplog.text


def test_other_likelihoods_and_samplers_drop_them_too(cells: Matrix) -> None:
    positive = np.log1p(np.exp(cells)) + 0.01
    for table, other in ((positive, {"likelihood": "softplus"}), (cells, {"sampler": "joint"})):
        model = MatrixCompletion(**(SHORT | other))._resolve(from_array(table), seed=3).model
        assert 3 <= model.rank < GIVEN


def test_other_words_are_refused(cells: Matrix) -> None:
    with pytest.raises(ValueError, match="off_components='none' is not known; choose one of 'drop', 'keep'"):
        fitted(cells, off_components="none")
