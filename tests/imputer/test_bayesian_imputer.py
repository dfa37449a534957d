"""The public behaviour of the imputer: fitted and new rows, DataFrames, pipelines."""

import pickle
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from manifill import MatrixCompletion
from manifill.base.arrays import Matrix
from manifill.imputer import BayesianImputer
from tests.imputer.synthetic_table import table_with_missing_values

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

QUICK: dict[str, Any] = {"rank": 2, "chains": 2, "warmup": 50, "draws": 50, "random_state": 0, "jobs": 1}
QUICK["column_transform"] = None
FITTED = 60  # rows in the fit; the others are new
FULL, HOLES = table_with_missing_values()


@pytest.fixture(scope="module")
def imputer() -> BayesianImputer:
    return BayesianImputer(**{**QUICK, "warmup": 200, "draws": 200}).fit(HOLES[:FITTED])


@pytest.mark.parametrize("rows", [slice(FITTED), slice(FITTED, None)], ids=["fitted", "new"])
def test_hidden_cells(imputer: BayesianImputer, rows: slice) -> None:
    """Noise 0.3 and three unknowns per row from its twelve cells: the error would be 0.34 if all else were known.

    90 % intervals over 500 and 800 hidden cells: the sd of the coverage is below 3 % even if cells are dependent.
    """
    mean, std = imputer.transform(HOLES[rows], return_std=True)
    hidden = np.isnan(HOLES[rows])
    error = (mean - FULL[rows])[hidden]
    of_means = (np.nanmean(HOLES[:FITTED], axis=0) - FULL[rows])[hidden]
    assert np.sqrt(np.mean(error**2)) < 0.45
    assert np.sqrt(np.mean(of_means**2)) > 1.0, "column means are a poor prediction"
    assert 0.82 < np.mean(np.abs(error) < 1.645 * std[hidden]) < 0.97


def test_rows_of_the_fit_agree_with_their_draws(imputer: BayesianImputer) -> None:
    """Two estimates of one posterior; tolerances are Monte Carlo errors of a few hundred draws, relative to the sd."""
    mean, std = imputer.transform(HOLES[:FITTED], return_std=True)
    drawn_mean, drawn_std = imputer.completion_.complete()
    hidden = np.isnan(HOLES[:FITTED])
    assert np.sqrt(np.mean(((mean - drawn_mean) / drawn_std)[hidden] ** 2)) < 0.1
    assert np.abs(np.log(std[hidden] / drawn_std[hidden])).mean() < 0.1


def test_observed_values_are_unchanged_and_have_no_deviation(imputer: BayesianImputer) -> None:
    rows = HOLES[FITTED:].copy()
    rows[0] = FULL[FITTED]
    before = rows.copy()
    mean, std = imputer.transform(rows, return_std=True)
    seen = ~np.isnan(rows)
    np.testing.assert_array_equal(mean[seen], rows[seen])
    assert (std[seen] == 0.0).all()
    assert (std[~seen] > 0.2).all()
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_array_equal(imputer.transform(FULL), FULL)


def test_a_row_does_not_depend_on_the_other_rows(imputer: BayesianImputer) -> None:
    together = imputer.transform(HOLES)
    order = np.random.default_rng(0).permutation(len(HOLES))
    np.testing.assert_allclose(imputer.transform(HOLES[order]), together[order], rtol=1e-12)
    np.testing.assert_allclose(imputer.transform(HOLES[7:8]), together[7:8], rtol=1e-12)


def test_a_row_without_values_gets_the_column_means(imputer: BayesianImputer) -> None:
    mean, std = imputer.transform(np.full((1, 20), np.nan), return_std=True)
    np.testing.assert_allclose(mean[0], np.nanmean(HOLES[:FITTED], axis=0), atol=0.8)
    np.testing.assert_allclose(std[0], FULL.std(axis=0), rtol=0.5)


def test_a_column_without_values_gets_the_overall_mean() -> None:
    holes = HOLES[:30].copy()
    holes[:, 3] = np.nan
    completed = BayesianImputer(**QUICK).fit_transform(holes)
    assert completed.shape == holes.shape
    np.testing.assert_allclose(completed[:, 3].mean(), np.nanmean(holes), atol=2.0)


def test_data_frames_keep_names_and_index() -> None:
    frame = pd.DataFrame(HOLES[:40], columns=[f"c{j}" for j in range(20)], index=np.arange(100, 140))
    imputer = BayesianImputer(**QUICK).set_output(transform="pandas").fit(frame[:30])
    completed, std = imputer.transform(frame[30:], return_std=True)
    assert list(imputer.get_feature_names_out()) == list(frame.columns) == list(completed.columns)
    assert list(completed.index) == list(range(130, 140))
    pd.testing.assert_index_equal(std.index, completed.index)
    pd.testing.assert_index_equal(std.columns, completed.columns)
    assert (std.to_numpy() > 0.0).sum() == frame[30:].isna().sum().sum()
    assert all("column c" in q.name for q in imputer.completion_.diagnostics_.quantities if q.name.startswith("X"))
    assert isinstance(imputer.set_output(transform="default").transform(frame, return_std=True)[1], np.ndarray)
    assert not completed.isna().any(axis=None)
    with pytest.raises(ValueError, match="feature names"):
        imputer.transform(frame.rename(columns={"c0": "d0"}))


def test_a_pipeline_in_cross_validation() -> None:
    """The target is a function of the factors, so the completed columns predict it well."""
    y = FULL[:, :5].sum(axis=1)
    scores = cross_val_score(make_pipeline(BayesianImputer(**QUICK), Ridge()), HOLES, y, cv=2)
    assert (scores > 0.9).all()


def test_seeds() -> None:
    holes = HOLES[:20]
    A = BayesianImputer(**QUICK).fit(holes).completion_.posterior_.A
    same = MatrixCompletion(rank=2, chains=2, warmup=50, draws=50, seed=0, jobs=1, progress=False).fit(holes)
    np.testing.assert_array_equal(A, same.posterior_.A)
    drawn = [
        BayesianImputer(**{**QUICK, "random_state": np.random.RandomState(5)}).fit(holes).completion_.posterior_.A
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*drawn)
    assert not np.array_equal(drawn[0], A)


def test_a_fitted_imputer_can_be_pickled(imputer: BayesianImputer) -> None:
    again = pickle.loads(pickle.dumps(imputer))
    np.testing.assert_array_equal(again.transform(HOLES), imputer.transform(HOLES))


def test_a_small_table_reduces_the_rank() -> None:
    imputer = BayesianImputer(**{**QUICK, "rank": 10}).fit(HOLES[:20, :3])
    assert imputer.completion_.rank == 3


@pytest.mark.parametrize(
    ("changes", "holes", "message"),
    [
        ({"rank": 0}, HOLES[:5], "rank.*0"),
        ({"rank": "2"}, HOLES[:5], "rank.*'2'"),
        ({"random_state": -1}, HOLES[:5], "random_state.*-1"),
        ({"noise": "cell"}, HOLES[:5], "noise='cell'"),
        ({}, np.full((5, 4), np.nan), "empty"),
        ({}, np.full((5, 4), np.inf), "infinity"),
    ],
    ids=["rank", "rank as text", "seed", "noise", "all missing", "infinite"],
)
def test_invalid_arguments(changes: dict[str, Any], holes: Matrix, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BayesianImputer(**{**QUICK, **changes}).fit(holes)


def test_without_scikit_learn_the_error_explains_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "manifill.imputer.bayesian_imputer")
    with pytest.raises(ImportError, match=r"scikit-learn 1\.6.*manifill\[sklearn\]"):
        import_module("manifill.imputer.bayesian_imputer")
