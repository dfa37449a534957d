"""Transformed columns: the decision, refusals, and predictions in the units of the data."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import manifill
from manifill import BayesianImputer, MatrixCompletion
from manifill.base.arrays import Matrix
from manifill.posterior.arviz_groups import draw_groups
from manifill.problem import from_array
from manifill.report.coverage import ranks
from manifill.report.report_data import collect_report_data

SHORT: dict[str, Any] = {"rank": 2, "chains": 2, "warmup": 60, "draws": 150, "seed": 0, "jobs": 1, "progress": False}


def skewed(seed: int = 0, shape: tuple[int, int] = (90, 9)) -> tuple[Matrix, Matrix]:
    """Return a table with columns in units of their own, all of them log-normal, and the same with holes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1])) * 0.7 + 0.25 * rng.normal(size=shape)
    table = np.asarray(10.0 ** rng.uniform(-1, 2, shape[1]) * np.exp(x))
    return table, np.where(rng.random(shape) < 0.25, np.nan, table)


def fitted(table: Any, **settings: Any) -> MatrixCompletion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", manifill.ConvergenceWarning)
        return MatrixCompletion(**(SHORT | settings)).fit(table)


TABLE, HOLES = skewed()
ROWS, COLS = HIDDEN = np.nonzero(np.isnan(HOLES))


@pytest.fixture(scope="module")
def transformed() -> MatrixCompletion:
    return fitted(HOLES)


def test_the_choice_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    model = fitted(HOLES, progress=True, draws=20)
    assert not model.posterior_.column_units.is_linear
    assert "9 columns of 9 made nearly normal (sinh-arcsinh), which predicts left-out cells better" in (
        capsys.readouterr().err
    )


def test_predictions_are_better_and_in_the_units_of_the_data(transformed: MatrixCompletion) -> None:
    found, plain = (
        model.score(ROWS, COLS, TABLE[HIDDEN]) for model in (transformed, fitted(HOLES, column_transform=None))
    )
    assert found.log_density > plain.log_density + 0.3
    assert 0.8 < found.coverage < 0.97


def test_intervals_are_those_of_samples(transformed: MatrixCompletion) -> None:
    prediction = transformed.predict(ROWS, COLS)
    samples = transformed.sample_posterior_predictive(ROWS, COLS)
    lower, upper = np.quantile(samples, (0.05, 0.95), axis=0)
    np.testing.assert_allclose(prediction.lower, lower, rtol=1e-3)
    np.testing.assert_allclose(prediction.upper, upper, rtol=1e-3)


def test_means_and_deviations_are_those_of_samples(transformed: MatrixCompletion) -> None:
    """z-scores of 200 means of 300 draws, which are nearly independent: beyond 5 with a probability below 1e-4."""
    prediction, samples = transformed.predict(ROWS, COLS), transformed.sample_posterior_predictive(ROWS, COLS)
    z = (samples.mean(axis=0) - prediction.mean) / (samples.std(axis=0) / np.sqrt(len(samples)))
    assert np.abs(z).max() < 5.0
    assert np.median(samples.std(axis=0) / prediction.sd) == pytest.approx(1.0, abs=0.05)


def test_the_completed_matrix_agrees_with_predictions(transformed: MatrixCompletion) -> None:
    mean, sd = transformed.complete()
    prediction = transformed.predict(ROWS, COLS)
    np.testing.assert_allclose(mean[HIDDEN], prediction.mean, rtol=1e-6)
    np.testing.assert_allclose(sd[HIDDEN], prediction.sd, rtol=1e-6)


def test_densities_integrate_to_one(transformed: MatrixCompletion) -> None:
    row, col = (int(index[0]) for index in HIDDEN)
    grid = np.linspace(1e-3, 40.0, 1500) * np.nanmedian(HOLES[:, col])
    log_density = [transformed.score([row], [col], [y]).log_density for y in grid[::10]]
    assert np.trapezoid(np.exp(log_density), grid[::10]) == pytest.approx(1.0, abs=0.05)


def test_one_cell_by_hand(transformed: MatrixCompletion) -> None:
    """log p(y) is the mixture over draws of N(T(y); x, σ) T'(y)."""
    i, j = (int(index[3]) for index in HIDDEN)
    y, draws = float(TABLE[i, j]), transformed.posterior_
    units, terms = draws.column_units.at(np.array([j])), []
    for left, right, found in draws.factors(("sigma", "row_noise", "column_noise")):
        sigma = found["sigma"] * found["row_noise"][i] * found["column_noise"][j]
        terms.append(stats.norm.logpdf(units.to_model(np.array([y]))[0], left[i] @ right[j], sigma))
    expected = np.log(np.mean(np.exp(terms))) + units.log_slopes(np.array([y]))[0]
    assert transformed.score([i], [j], [y]).log_density == pytest.approx(expected)


def test_ranking_is_by_expected_values(transformed: MatrixCompletion) -> None:
    row = int(HIDDEN[0][0])
    ranking = transformed.top(row, n=1)
    unseen = np.flatnonzero(np.isnan(HOLES[row]))
    means = transformed.predict([row] * unseen.size, unseen).mean
    assert ranking.columns[0] == unseen[np.argmax(means)]
    assert ranking.mean[0] == pytest.approx(means.max(), rel=1e-6)


def test_runs_come_back_and_can_be_resumed(tmp_path: Path) -> None:
    fitted(HOLES, path=tmp_path / "run", draws=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", manifill.ConvergenceWarning)
        loaded = manifill.load(tmp_path / "run")
        again = MatrixCompletion(**(SHORT | {"path": tmp_path / "run", "draws": 60})).fit(HOLES, resume=True)
    assert not loaded.posterior_.column_units.is_linear
    whole = fitted(HOLES, path=tmp_path / "whole", draws=60)
    np.testing.assert_array_equal(again.predict(ROWS, COLS).mean, whole.predict(ROWS, COLS).mean)


def test_the_report_is_in_the_units_of_the_data(tmp_path: Path) -> None:
    held_out = from_array(np.where(np.isnan(HOLES), TABLE, np.nan))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", manifill.ConvergenceWarning)
        model = MatrixCompletion(**(SHORT | {"path": tmp_path / "run"})).fit(from_array(HOLES), held_out=held_out)
    found = ranks(np.random.default_rng(0), collect_report_data(model, held_out), held_out)
    np.testing.assert_allclose(found.mean, model.predict(*held_out.triples()[:2]).mean, rtol=1e-6)
    samples = model.sample_posterior_predictive(*held_out.triples()[:2])
    shares = np.mean(samples < held_out.triples()[2], axis=0)
    assert np.abs(found.below - shares).max() < 0.2  # five standard errors of the difference of 300 draws


def test_arviz_has_the_parameters(transformed: MatrixCompletion) -> None:
    constants = draw_groups(transformed.posterior_)["constant_data"]
    assert {"column_scales", "column_skewness", "column_tail_weight"} <= set(constants.data_vars)


def test_the_imputer_completes_rows_in_the_units_of_the_data(transformed: MatrixCompletion) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", manifill.ConvergenceWarning)
        imputer = BayesianImputer(rank=2, chains=2, warmup=60, draws=150, random_state=0, jobs=1).fit(HOLES)
    mean, sd = imputer.transform(HOLES, return_std=True)
    prediction = transformed.predict(ROWS, COLS)
    np.testing.assert_array_equal(mean[~np.isnan(HOLES)], HOLES[~np.isnan(HOLES)])
    assert np.median(np.abs(mean[HIDDEN] - prediction.mean) / prediction.sd) < 0.15
    assert np.median(sd[HIDDEN] / prediction.sd) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"likelihood": "softplus"}, "needs likelihood='gaussian'"),
        ({"tails": "student"}, "needs tails='normal'"),
        ({"sigma": 1.0}, "leaves columns without units for sigma"),
    ],
)
def test_what_cannot_be_transformed_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fitted(HOLES, column_transform="sinh-arcsinh", **settings)
    assert fitted(HOLES, draws=10, warmup=10, **settings).posterior_.column_units.is_linear


def test_unknown_transforms_are_refused() -> None:
    with pytest.raises(ValueError, match="column_transform"):
        fitted(HOLES, column_transform="log")


@pytest.mark.parametrize("settings", [{"column_scales": None}, {"effects": None}])
def test_the_paper_model_is_left_alone(settings: dict[str, Any]) -> None:
    assert fitted(HOLES, draws=10, warmup=10, **settings).posterior_.column_units.is_linear


def test_tables_with_more_columns_than_rows_are_not_transformed() -> None:
    assert fitted(HOLES.T.copy(), draws=10, warmup=10).posterior_.column_units.is_linear
    always = fitted(HOLES.T.copy(), draws=10, warmup=10, column_transform="sinh-arcsinh")
    assert always.posterior_.column_units.is_linear  # nine values per column are too few for a shape


def test_columns_that_are_only_standardised_keep_their_level() -> None:
    """Of 15 rows no column has a shape; predictions are about 1000, where the values are."""
    rng = np.random.default_rng(0)
    table = 1000.0 + rng.normal(size=(15, 1)) + 0.1 * rng.normal(size=(15, 8))
    table[rng.random(table.shape) < 0.2] = np.nan
    mean, _ = fitted(table, draws=50, warmup=50, column_transform="sinh-arcsinh").complete()
    assert np.abs(mean - 1000.0).max() < 10.0


def test_a_transform_that_does_not_predict_better_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import manifill.sampling.transform_trial as trial

    monkeypatch.setattr(trial, "try_transform", lambda *_, **__: trial.Comparison(-0.1, 0.01, 0.0, 1.0))
    model = fitted(HOLES, progress=True, draws=10, warmup=10)
    assert "columns are not transformed" in capsys.readouterr().err
    assert model.posterior_.column_units.is_linear


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_an_outlier_spoils_neither_its_row_nor_its_column(caplog: pytest.LogCaptureFixture) -> None:
    """One cell of a table of rank two is a million standard deviations away; 19 values are too few for a shape."""
    caplog.set_level("INFO", "manifill")
    rng = np.random.default_rng(4)
    table = rng.normal(size=(19, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(19, 6))
    holes = np.where(rng.random(table.shape) < 0.2, np.nan, table)
    holes[3, 4] = 1e6
    model = MatrixCompletion(seed=0, rank=2, chains=2, warmup=200, draws=200, jobs=1, progress=False).fit(holes)
    assert "1 value far outside the column, the farthest 1e+06 at row 3, column 4" in caplog.text
    error = np.abs(model.complete()[0] - table)
    error[3, 4] = 0.0
    assert np.median(error) < 0.5
    assert error[:, 4].max() < 3.0
    assert error[3].max() < 30.0
