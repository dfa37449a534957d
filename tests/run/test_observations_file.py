"""Labels in the files of a run: stored faithfully, or refused before anything is written."""

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from manifill import MatrixCompletion
from manifill.problem import Observations
from manifill.run.observations_file import check_labels, load_observations, save_observations

STORED: dict[str, Any] = {
    "text": np.array(["a", "", "µ\N{SNOWMAN}"], dtype=object),
    "text with NUL at its end": np.array(["a", "a\0", "a\0\0"], dtype=object),
    "half of a surrogate pair": np.array(["a", "\ud800", "c"], dtype=object),
    "text and numbers": np.array(["1", 1, 1.5], dtype=object),
    "numbers of NumPy among objects": np.array(["1", np.int64(1), np.bool_(False)], dtype=object),
    "integers": np.arange(3),
    "small integers": np.array([0, 200, 255], dtype=np.uint8),
    "dates": pd.date_range("2024-03-01", periods=3).to_numpy(),
    "durations": pd.timedelta_range("1h", periods=3).to_numpy(),
}
REFUSED: dict[str, Any] = {
    "dates with a time zone": pd.date_range("2024-03-01", periods=3, tz="Europe/Berlin"),
    "dates of Python": [date(2024, 3, day) for day in (1, 2, 3)],
    "tuples": pd.Index([("a", 1), ("a", 2), ("b", 1)], tupleize_cols=False),
    "intervals": pd.interval_range(0, 3),
}


def observations(labels: Any) -> Observations:
    return Observations.from_triples([0, 1, 2], [0, 1, 0], [1.0, 2.0, 3.0], (3, 2), row_labels=labels)


@pytest.mark.parametrize("name", STORED)
def test_labels_come_back_as_they_were(name: str, tmp_path: Path) -> None:
    check_labels(observations(STORED[name]))
    save_observations(tmp_path / "data.npz", observations(STORED[name]))
    found = load_observations(tmp_path / "data.npz").row_labels
    assert found is not None
    assert found.tolist() == STORED[name].tolist()
    assert list(map(type, found.tolist())) == [
        bool if isinstance(label, np.bool_) else int if isinstance(label, np.int64) else type(label)
        for label in STORED[name].tolist()
    ]


def test_one_long_label_does_not_make_all_of_them_long(tmp_path: Path) -> None:
    labels = np.array([f"r{k}" for k in range(20_000)] + ["x" * 200_000], dtype=object)  # 16 GB as an array of text
    cells = Observations.from_triples([0], [0], [1.0], (labels.size, 1), row_labels=labels)
    save_observations(tmp_path / "data.npz", cells)
    found = load_observations(tmp_path / "data.npz").row_labels
    assert found is not None
    assert found.tolist() == labels.tolist()


@pytest.mark.parametrize("name", REFUSED)
def test_other_labels_are_refused_before_anything_is_written(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": [np.nan, 1.0, 3.0]}, index=REFUSED[name])
    model = MatrixCompletion(rank=1, path=tmp_path / "run", progress=False)
    with pytest.raises(ValueError, match=r"the row labels hold .*, which a run on disk cannot store; convert them to"):
        model.fit(frame, layout="wide")
    assert not list(tmp_path.iterdir())
