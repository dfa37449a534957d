from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accuracy import runner
from accuracy.methods.dense import Arranged
from accuracy.predicted import Mixture, Points
from accuracy.registry import METHODS, Task, quick_tasks, tasks
from accuracy.report import report
from accuracy.runner import NOT_INSTALLED, OVER_LIMIT, Results
from accuracy.standardise import standardise, unchanged
from accuracy.tables import TABLES, Cells, Split

FIGURES = {"mae": 0.5, "log_score": -1.0, "crps": 0.4, "coverage": [0.5, 0.8, 0.9, 0.95], "failed_columns": 0}
COST = {"columns": 13, "processor_seconds": 1.0, "megabytes": 100.0}


def record(method: str, split: int, rmse: float, standardised: bool = False, **more: Any) -> dict[str, Any]:
    return Task("wine", method, standardised, split)._asdict() | {"rmse": rmse} | FIGURES | COST | more


def small_split() -> Split:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(6, 4)) * [1.0, 10.0, 100.0, 1.0] + [0.0, 5.0, -50.0, 2.0]
    rows, cols = (index.ravel() for index in np.indices(table.shape))
    test = (rows + cols) % 3 == 0
    cells = Cells(rows, cols, table[rows, cols])
    return Split((6, 4), cells.chosen(~test), cells.chosen(test), units=table.std(axis=0), stars=False)


def test_standardised_columns_give_the_same_scores_in_the_units_of_the_data() -> None:
    split = small_split()
    seen, units = standardise(split)
    for column in range(4):
        values = seen.train.y[seen.train.cols == column]
        np.testing.assert_allclose([values.mean(), values.std()], [0.0, 1.0], atol=1e-12)
    scaled = Mixture(np.zeros((1, split.test.y.size)), np.ones((1, 1)), np.zeros(split.test.y.size))
    same = Mixture(units.shift[None], units.scale[None], units.shift)
    found, expected = scaled.scored(split, units), same.scored(*unchanged(split))
    np.testing.assert_allclose(found.mean, expected.mean)
    assert found.log_score == pytest.approx(expected.log_score)
    assert found.crps == pytest.approx(expected.crps)


def test_errors_are_in_units_of_the_columns() -> None:
    split = small_split()
    right = Points(split.test.y + 0.5 * split.test_units).scored(*unchanged(split)).record(split)
    assert right["rmse"] == pytest.approx(0.5)
    assert right["log_score"] is None


def test_cells_that_imputers_leave_out_get_the_mean_of_the_column() -> None:
    train = Cells(np.array([0, 1, 2, 0, 1]), np.array([0, 0, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 7.0, 7.0]))
    test = Cells(np.array([0, 3, 2]), np.array([0, 0, 1]), np.zeros(3))  # row 3 is empty, column 1 has one level
    arranged = Arranged.of(Split((4, 2), train, test, np.ones(2), stars=False))
    assert arranged.table.shape == (3, 1)
    np.testing.assert_allclose(arranged.at_test_cells(np.full((1, 3, 1), 9.0), arranged.means), [[9.0, 2.0, 4.0]])


def test_a_wide_table_is_turned() -> None:
    train = Cells(np.array([0, 0, 1, 1]), np.array([0, 2, 0, 1]), np.array([1.0, 2.0, 3.0, 4.0]))
    test = Cells(np.array([1]), np.array([2]), np.zeros(1))
    arranged = Arranged.of(Split((2, 3), train, test, np.ones(3), stars=False))
    np.testing.assert_array_equal(arranged.table, [[1.0, 3.0], [np.nan, 4.0], [2.0, np.nan]])
    assert arranged.at_test_cells(np.arange(6.0).reshape(1, 3, 2), arranged.means) == pytest.approx(5.0)


def test_finished_fits_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results, wanted = Results(tmp_path / "figures.jsonl"), list(tasks(["wine"], ["KNNImputer"], splits=2))
    ran: list[Task] = []

    def one_fit(task: Task, quick: bool, limit: float) -> dict[str, Any]:
        ran.append(task)
        return {"failure": OVER_LIMIT} if task.standardised else {"rmse": 1.0}

    monkeypatch.setattr(runner, "one_fit", one_fit)
    runner.run(wanted[:1], results, quick=False, limit=1.0)
    runner.run(wanted, results, quick=False, limit=1.0)
    assert len(wanted) == 4
    assert ran == wanted[:3]  # the last one has passed the limit on another split
    assert [found.get("failure") for found in results.records()] == [None, OVER_LIMIT, None, OVER_LIMIT]


def test_a_line_that_was_cut_off_is_run_again(tmp_path: Path) -> None:
    results, wanted = Results(tmp_path / "figures.jsonl"), list(tasks(["wine"], ["gcimpute"], splits=2))
    results.add(wanted[0]._asdict() | {"rmse": 1.0})
    results.path.write_text(results.path.read_text() + '{"table": "wi')
    assert results.missing(wanted) == wanted[1:]


def test_a_fit_that_failed_is_run_again_and_its_last_record_counts(tmp_path: Path) -> None:
    results, (task,) = Results(tmp_path / "figures.jsonl"), list(tasks(["wine"], ["gcimpute"], splits=1))
    results.add(task._asdict() | {"failure": NOT_INSTALLED})
    assert results.missing([task]) == [task]
    results.add(task._asdict() | {"rmse": 1.0})
    assert results.missing([task]) == []
    assert [record.get("rmse") for record in results.records()] == [1.0]


def test_only_this_package_runs_on_synthetic_tables_and_stars_are_not_standardised() -> None:
    found = list(tasks(list(TABLES), ["manifill", "KNNImputer", "myFM ordered probit, rank 8, 100 iterations"], 1))
    assert {task.method for task in found if task.table.startswith("case 1")} == {"manifill"}
    assert {task.table for task in found if "probit" in task.method} == {"MovieLens"}
    assert not any(task.standardised for task in found if task.table == "MovieLens")


def test_a_quick_run_has_one_of_similar_fits() -> None:
    found = quick_tasks(["wine", "MovieLens"], list(METHODS))
    assert sum("myFM" in task.method for task in found) == 3  # regression twice, and ordered probit on stars
    assert [task.standardised for task in found if task.method == "KNNImputer"] == [True, False]
    assert {task.split for task in found} == {0}


def test_report_takes_the_better_scaling_and_compares_with_the_best_peer() -> None:
    errors = [(0.70, 0.72, 0.80), (0.71, 0.75, 0.80), (0.72, 0.74, 0.80)]
    records = [
        one
        for split, (own, standardised, raw) in enumerate(errors)
        for one in (
            record("manifill", split, own, verdict="Converged: over 72 quantities"),
            record("KNNImputer", split, raw),
            record("KNNImputer", split, standardised, standardised=True),
        )
    ]
    records += [Task("wine", "cmfrec", False, split)._asdict() | {"failure": NOT_INSTALLED} for split in range(3)]
    lines = report(records).splitlines()
    assert lines[0] == "### wine"
    assert lines[6].startswith("| manifill | raw | 3 | 0.7100 | 0.5000 | −1.0000 | 0.4000 | 50.0, 80.0, 90.0, 95.0 |")
    assert lines[6].endswith("| 3 × Converged |")
    assert lines[7].startswith("| KNNImputer | standardised | 3 | 0.7367 |")
    assert "**0 of 3: not installed**" in lines[8]
    assert lines[-3] == "- RMSE of manifill and of the best peer, KNNImputer: 0.7100 and 0.7367, z = −4.0"
    assert lines[-1] == "- CRPS of manifill and of the best peer, KNNImputer: 0.4000 and 0.4000, z = nan"


def test_log_scores_are_not_compared_with_those_of_classes() -> None:
    own = [record("manifill", split, 0.7) for split in range(2)]
    classes = [record("gcimpute", split, 0.6, classes=True, log_score=-0.5) for split in range(2)]
    lines = [line for line in report(own + classes).splitlines() if line.startswith("-")]
    assert [line.split(" of ")[0] for line in lines] == ["- RMSE"]
