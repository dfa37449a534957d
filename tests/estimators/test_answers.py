"""What a fitted model answers beside predictions: samples, scores, and ArviZ's groups, by label."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from manifill import MatrixCompletion, Score, load
from manifill.base.arrays import IntVector, Vector
from manifill.problem import from_array, from_frame

from .tables import low_rank_table

pytestmark = pytest.mark.filterwarnings("ignore")  # of convergence, and of ArviZ's future

QUICK: dict[str, Any] = {
    "sampler": "joint",
    "rank": 2,
    "chains": 2,
    "warmup": 30,
    "draws": 60,
    "seed": 0,
    "jobs": 1,
    "progress": False,
}
NAMES = np.array([f"row {i:02d}" for i in range(14)])
FULL, HOLES = low_rank_table()
ROWS, COLS = (index[:20] for index in np.nonzero(np.isnan(HOLES)))
VALUES = FULL[ROWS, COLS]


def frame(rows: IntVector, cols: IntVector, values: Vector) -> pd.DataFrame:
    return pd.DataFrame({"who": NAMES[rows], "what": cols * 10, "value": values})


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> MatrixCompletion:
    """A fit by labels, in a run directory."""
    rows, cols = np.nonzero(~np.isnan(HOLES))
    path = tmp_path_factory.mktemp("fit") / "run"
    return MatrixCompletion(**QUICK, path=path).fit(frame(rows, cols, HOLES[rows, cols]))


def test_samples_are_those_that_intervals_come_from(model: MatrixCompletion) -> None:
    samples = model.sample_posterior_predictive(NAMES[ROWS], COLS * 10)
    assert samples.shape == (120, 20)
    np.testing.assert_array_equal(model.sample_posterior_predictive(NAMES[ROWS], COLS * 10), samples)
    np.testing.assert_allclose(
        np.quantile(samples, 0.05, axis=0), model.predict(NAMES[ROWS], COLS * 10).lower, rtol=1e-5
    )
    assert model.sample_posterior_predictive(NAMES[ROWS], COLS * 10, draws=7).shape == (7, 20)


@pytest.mark.parametrize("draws", [0, 121, 2.5])
def test_draws_to_sample_from_are_those_that_there_are(model: MatrixCompletion, draws: Any) -> None:
    with pytest.raises(ValueError, match="draws"):
        model.sample_posterior_predictive(NAMES[ROWS], COLS * 10, draws=draws)


def test_a_score_is_that_of_the_predictions(model: MatrixCompletion) -> None:
    found = model.score(NAMES[ROWS], COLS * 10, VALUES, interval=0.8)
    prediction = model.predict(NAMES[ROWS], COLS * 10, interval=0.8)
    assert isinstance(found, Score)
    assert found.rmse == pytest.approx(np.sqrt(np.mean((prediction.mean - VALUES) ** 2)))
    assert found.coverage == np.mean((prediction.lower <= VALUES) & (prediction.upper >= VALUES))
    assert float(found) == found.log_density
    assert "80 % intervals cover" in str(found)


def test_held_out_data_in_every_form_score_the_same(model: MatrixCompletion) -> None:
    by_label = model.score(NAMES[ROWS], COLS * 10, VALUES)
    held_out = frame(ROWS, COLS, VALUES).sample(frac=1.0, random_state=0)
    for data in (held_out, from_frame(held_out)):
        found = model.score(data)
        assert found.cells == by_label.cells
        for name in ("rmse", "mae", "log_density", "crps", "coverage"):
            assert getattr(found, name) == pytest.approx(getattr(by_label, name), rel=1e-9)


def test_a_split_scores_what_was_held_out() -> None:
    train, held_out = from_array(FULL).split(np.random.default_rng(0), 0.3)
    found = MatrixCompletion(**{**QUICK, "chains": 1}).fit(train).score(held_out)
    assert found.cells == held_out.size
    assert 0.2 < found.rmse < 1.0


def test_a_score_without_names_needs_a_fit_without_names(model: MatrixCompletion) -> None:
    with pytest.raises(ValueError, match="the rows of the fit have labels"):
        model.score(FULL)


def test_the_posterior_for_arviz_has_the_labels_of_the_data(model: MatrixCompletion) -> None:
    tree = model.to_arviz(log_likelihood=True, posterior_predictive=True)
    assert tree["posterior"]["U"].sel(row="row 03").shape == (2, 60, 2)
    assert tree["posterior"]["column_effect"].sel(column=40).shape == (2, 60)
    cells = model.observations_.size
    for group in ("log_likelihood", "posterior_predictive"):
        assert tree[group]["y"].shape == (2, 60, cells)
        assert tree[group]["row"].values[0] == "row 00"
    assert tree["observed_data"]["y"].shape == (cells,)
    assert "observed_data" not in model.to_arviz()
    assert tree.attrs["fingerprint"] == model.posterior_.attributes["fingerprint"]


def test_leaving_out_each_cell(model: MatrixCompletion) -> None:
    """The density of a cell given the others is below that given also itself."""
    found = model.loo()
    assert found.n_data_points == model.observations_.size
    given_itself = model.score(model.observations_).log_density
    elpd = float(found.elpd if hasattr(found, "elpd") else found.elpd_loo)
    assert given_itself - 3.0 < elpd / model.observations_.size < given_itself


def test_a_run_that_is_read_back_answers_the_same(model: MatrixCompletion) -> None:
    assert model.path is not None
    again = load(model.path)
    assert again.score(NAMES[ROWS], COLS * 10, VALUES) == model.score(NAMES[ROWS], COLS * 10, VALUES)
    aligned = again.posterior_.aligned()
    assert aligned.mean.U.shape == (14, 2)
    assert aligned.mean.s[0] >= aligned.mean.s[1] > 0.0


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.score([0], [0], [1.0]),
        lambda model: model.sample_posterior_predictive([0], [0]),
        lambda model: model.to_arviz(),
        lambda model: model.loo(),
    ],
)
def test_without_a_fit_there_is_no_answer(ask: Callable[[MatrixCompletion], object]) -> None:
    with pytest.raises(ValueError, match="has not been fitted"):
        ask(MatrixCompletion())
