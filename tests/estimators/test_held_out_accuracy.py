"""Accuracy on held-out cells, next to that of means."""

from pathlib import Path

import numpy as np
import pytest

from manifill import hold_out
from manifill.base.arrays import Vector
from manifill.estimators.held_out_accuracy import Errors, comparison, evaluate, in_new_rows_or_columns
from tests.report.synthetic_runs import synthetic_model

TABLE = np.arange(24.0).reshape(6, 4)


@pytest.mark.parametrize("scales", [None, 10.0 ** np.arange(-7, 8)], ids=["one unit", "units"])
def test_errors_are_those_of_the_predictions(tmp_path: Path, scales: Vector | None) -> None:
    model = synthetic_model(tmp_path / "run", scales=scales, held_out=None)
    cells = model.observations_.subset(np.arange(50))
    rows, cols, values = cells.triples()
    found = evaluate(model, cells)
    difference = (model.predict(rows, cols).mean - values) / (1.0 if scales is None else scales[cols])
    model_errors = found.errors[0]
    assert model_errors.name == "model"
    assert model_errors.rmse == pytest.approx(np.sqrt(np.mean(difference**2)))
    assert model_errors.mae == pytest.approx(np.abs(difference).mean())
    assert [each.name for each in found.errors[1:]] == ["row and column means", "column means"]
    assert found.coverage == pytest.approx(model.score(rows, cols, values).coverage)
    assert found.in_spreads == (scales is not None)


def test_the_best_of_the_means_is_what_the_model_must_beat() -> None:
    means = Errors("row and column means", 2.0, 1.0), Errors("column means", 4.0, 2.0)
    better = comparison([Errors("model", 1.5, 1.0), *means], is_new=False)
    assert better == "The RMSE of the model is 25.0 % below that of row and column means."
    for rmse in (2.0, 3.0):
        worse = comparison([Errors("model", rmse, 1.0), *means], is_new=False)
        assert worse.startswith(f"The model does not beat row and column means, whose RMSE is 2 against {rmse:g}. Try ")
    assert comparison([Errors("model", 3.0, 1.0), *means], is_new=True).endswith("against 3.")
    assert comparison([Errors("model", 0.0, 0.0), *(each._replace(rmse=0.0) for each in means)], is_new=False)


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("row", "No cell of their rows was fitted: this is the accuracy for new rows."),
        ("column", "No cell of their columns was fitted: this is the accuracy for new columns."),
        ("block", ""),
    ],
)
def test_new_rows_and_columns_are_mentioned(by: str, said: str) -> None:
    assert in_new_rows_or_columns(*hold_out(TABLE, 0.2, by=by)) == said  # type: ignore[arg-type]


def test_some_cells_of_new_rows_are_counted() -> None:
    train, held_out = hold_out(TABLE, 4, by="cell")
    rows, _, _ = train.triples()
    last = int(held_out.triples()[0][0])
    without = train.subset(rows != last)
    unseen = int(np.sum(held_out.triples()[0] == last))
    verb = "is" if unseen == 1 else "are"
    assert f"held-out cell{'s' * (unseen > 1)} {verb} in rows of which no cell was fitted" in in_new_rows_or_columns(
        without, held_out
    )
