"""DataFrames in and out of the estimators: labels in, labels back; arrays in, arrays back."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from manifill import MatrixCompletion, load, map_estimate
from tests.estimators.tables import low_rank_table

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

QUICK: dict[str, Any] = {"rank": 2, "sampler": "factors", "chains": 2, "warmup": 20, "draws": 40, "seed": 0}
QUICK |= {"column_transform": None, "jobs": 1, "progress": False}
FULL, HOLES = low_rank_table()
PLANTS, DAYS = [f"plant {i}" for i in range(len(HOLES))], pd.date_range("2024-03-01", periods=HOLES.shape[1])
WIDE = pd.DataFrame(HOLES, index=pd.Index(PLANTS, name="plant"), columns=DAYS)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> MatrixCompletion:
    return MatrixCompletion(**QUICK, path=tmp_path_factory.mktemp("wide") / "run").fit(WIDE)


def test_a_wide_frame_comes_back_with_its_labels(model: MatrixCompletion) -> None:
    plain = MatrixCompletion(**QUICK).fit(HOLES)
    for found, expected in zip(model.complete(), plain.complete(), strict=True):
        assert isinstance(expected, np.ndarray)
        assert (list(found.index), list(found.columns), found.index.name) == (PLANTS, list(DAYS), "plant")
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_run_that_is_loaded_gives_the_same_frames(model: MatrixCompletion) -> None:
    assert model.path is not None
    for found, expected in zip(load(model.path).complete(), model.complete(), strict=True):
        pd.testing.assert_frame_equal(found, expected, rtol=1e-6, check_index_type=False)
        assert found.index.name == "plant"


def test_predictions_have_the_labels_of_their_cells(model: MatrixCompletion) -> None:
    found = model.predict(["plant 3", "plant 1"], [DAYS[2], "2024-03-05"]).to_frame()
    assert list(found) == ["row", "column", "mean", "sd", "lower", "upper"]
    assert found["row"].tolist() == ["plant 3", "plant 1"]
    assert found["column"].tolist() == [DAYS[2], DAYS[4]]
    plain = MatrixCompletion(**QUICK).fit(HOLES).predict([3, 1], [2, 4]).to_frame()
    assert plain[["row", "column"]].to_numpy().tolist() == [[3, 2], [1, 4]]
    np.testing.assert_allclose(found["mean"], plain["mean"], rtol=1e-5)


def test_wide_frames_are_scored_by_label(model: MatrixCompletion) -> None:
    shuffled = pd.DataFrame(FULL, index=PLANTS, columns=DAYS).sample(frac=1.0, random_state=0)
    rows, cols = np.indices(FULL.shape).reshape(2, -1)
    expected = model.score(np.array(PLANTS)[rows], DAYS[cols], FULL.ravel())
    assert model.score(shuffled).rmse == pytest.approx(expected.rmse, rel=1e-9)
    with pytest.raises(ValueError, match="layout='wide'"):
        model.score(shuffled.reset_index(drop=True))


def test_warnings_and_verdicts_have_labels(model: MatrixCompletion) -> None:
    names = [quantity.name for quantity in model.diagnostics_.quantities if quantity.name.startswith("X")]
    assert names
    assert all(name.startswith("X at plant ") for name in names)
    assert any(name.endswith("column 2024-03-02") for name in names)
    assert not any("[" in name for name in names)


def test_long_frames_come_back_as_wide_ones() -> None:
    long = WIDE.rename_axis("day", axis=1).stack().rename("growth").reset_index()
    model = MatrixCompletion(**QUICK).fit(long)
    mean, _ = model.complete()
    assert mean.index.tolist() == sorted(PLANTS)
    assert (mean.index.name, mean.columns.name) == ("plant", "day")
    predicted = model.predict(["plant 3"], [DAYS[2]]).mean[0]
    assert mean.loc["plant 3", DAYS[2]] == pytest.approx(predicted, rel=1e-5)


def test_the_mode_takes_and_gives_frames_too() -> None:
    found, plain = map_estimate(WIDE, lambda_=1.0, sigma=0.5), map_estimate(HOLES, lambda_=1.0, sigma=0.5)
    np.testing.assert_array_equal(found.complete(), plain.complete())
    assert isinstance(plain.complete(), np.ndarray)
    (predicted,) = found.predict(["plant 3"], [DAYS[2]])
    assert found.complete().loc["plant 3", DAYS[2]] == pytest.approx(predicted, rel=1e-12)  # sums in another order


def test_labels_that_cannot_be_stored_are_named_before_the_fit(tmp_path: Path) -> None:
    zoned = WIDE.set_axis(DAYS.tz_localize("Europe/Vienna"), axis=1)
    with pytest.raises(ValueError, match=r"the column labels hold .* cannot store; convert them to text"):
        MatrixCompletion(**QUICK, path=tmp_path / "run").fit(zoned)
    assert not list(tmp_path.iterdir())
