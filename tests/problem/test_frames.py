"""DataFrames: which are long, which are wide, which are neither for sure, and what their labels are."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from manifill.problem import Observations, as_observations
from manifill.problem.frame_labels import describe_frame, with_labels
from manifill.problem.frames import frame_layout
from tests.problem.cells import dense, labels_of

FULL = np.random.default_rng(0).normal(size=(6, 5))
HOLES = np.where(np.arange(30).reshape(6, 5) % 7 == 0, np.nan, FULL)
NAMES = list("abcdef")
RATINGS = pd.DataFrame({"user": [1, 1, 2], "film": [30, 40, 40], "stars": [1.0, 2.5, 3.0], "when": [9, 8, 7]})
LONG = RATINGS[["user", "film", "stars"]]

LAYOUTS: dict[str, tuple[pd.DataFrame, str | None]] = {
    "three columns of ids and a value": (LONG, "long"),
    "after dropna": (LONG.iloc[[0, 2]], "long"),
    "text labels": (LONG.astype({"user": str}), "long"),
    "dates": (LONG.assign(user=pd.date_range("2024-01-01", periods=3)), "long"),
    "ids that became floats": (LONG.astype({"user": float}), "long"),
    "a text label is missing": (LONG.assign(user=["x", None, "y"]), "long"),  # whose own message names it
    "ids and more than a value": (RATINGS, None),
    "an id is missing": (LONG.assign(user=[1.0, np.nan, 2.0]), None),
    "repeated times": (pd.concat([LONG.assign(user=[0.5, 0.5, 1.5])] * 2, ignore_index=True), "long"),
    "distinct times": (LONG.assign(user=[0.5, 1.5, 2.5]), None),
    "text and more than a value": (RATINGS.astype({"user": str}), None),
    "holes": (pd.DataFrame(HOLES), "wide"),
    "named rows with holes": (pd.DataFrame(HOLES, index=NAMES), "wide"),
    "named rows without holes": (pd.DataFrame(FULL, index=NAMES), "wide"),
    "a pivot table": (LONG.pivot_table(index="user", columns="film", values="stars"), "wide"),
    "counts with named rows": (pd.DataFrame(np.ones((6, 5), dtype=int), index=NAMES), "wide"),
    "three columns with named rows": (pd.DataFrame(HOLES[:, :3], index=NAMES), "wide"),
    "numbers without holes": (pd.DataFrame(FULL), None),
    "three columns with holes": (pd.DataFrame(HOLES[:, :3]), None),
    "three columns of ids with an index of names": (LONG.set_axis(["a", "b", "c"]), None),
    "three columns of ids with a named index": (LONG.rename_axis("rating"), None),
    "text in a wide frame": (pd.DataFrame(HOLES).assign(group="x"), None),
}


@pytest.mark.parametrize(("frame", "layout"), LAYOUTS.values(), ids=LAYOUTS.keys())
def test_a_layout_is_guessed_only_if_it_is_safe(frame: pd.DataFrame, layout: str | None) -> None:
    if layout is not None:
        assert frame_layout(frame) == layout
    else:
        with pytest.raises(ValueError, match=r"frame\[\[row, column, value\]\]"):
            frame_layout(frame)
    assert frame_layout(frame, "wide") == "wide"


def test_a_wide_frame_has_its_labels_in_its_order() -> None:
    frame = pd.DataFrame(HOLES, index=NAMES[::-1], columns=[30, 10, 20, 50, 40])
    observations = as_observations(frame)
    rows, columns = labels_of(observations)
    assert (rows.tolist(), columns.tolist()) == (NAMES[::-1], [30, 10, 20, 50, 40])
    np.testing.assert_array_equal(dense(observations), HOLES)
    assert observations.row_indices(["f", "a"]).tolist() == [0, 5]


@pytest.mark.parametrize("dtype", ["Float64", "float32", object])
def test_missing_cells_of_every_type_are_missing(dtype: Any) -> None:
    frame = pd.DataFrame(HOLES, index=NAMES).astype(dtype)
    if dtype is object:
        with pytest.raises(ValueError, match="a wide DataFrame must hold numbers, and 0, 1, 2, 3, 4 do not"):
            as_observations(frame, layout="wide")
    else:
        np.testing.assert_allclose(dense(as_observations(frame)), HOLES, rtol=1e-6)


def test_the_same_frame_can_be_read_in_both_ways() -> None:
    np.testing.assert_array_equal(dense(as_observations(LONG, layout="wide")), LONG.to_numpy())
    np.testing.assert_array_equal(dense(as_observations(LONG, layout="long")), [[1.0, 2.5], [np.nan, 3.0]])


def test_a_long_frame_may_have_missing_values() -> None:
    """As those that ``melt`` makes do."""
    melted = pd.DataFrame(HOLES, index=NAMES).reset_index().melt(id_vars="index")
    np.testing.assert_array_equal(dense(as_observations(melted)), HOLES)


def test_dates_are_labels() -> None:
    days = pd.date_range("2024-01-01", periods=6)
    observations = as_observations(pd.DataFrame(HOLES, index=days))
    for given in (["2024-01-02", "2024-01-06"], [days[1], days[5]], days[[1, 5]], days.to_numpy()[[1, 5]]):
        assert observations.row_indices(given).tolist() == [1, 5]
    with pytest.raises(ValueError, match="rows holds 2025-01-02, which is not among the 6 labels"):
        observations.row_indices(["2025-01-02"])
    with pytest.raises(ValueError, match="rows must hold dates"):
        observations.row_indices(["first"])


WIDE = pd.DataFrame(HOLES, index=NAMES)
REFUSALS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "layout": (WIDE, {"layout": "tall"}, "layout must be 'long' or 'wide', not 'tall'"),
    "layout of an array": (HOLES, {"layout": "wide"}, "layout='wide' is for a DataFrame"),
    "row twice": (WIDE.rename(index={"b": "a"}), {}, "the index of the DataFrame has the label a more than once"),
    "column twice": (WIDE.rename(columns={1: 0}), {}, "the columns of the DataFrame has the label 0 more than once"),
    "levels": (WIDE.set_axis(pd.MultiIndex.from_product([[1, 2], list("xyz")])), {}, "the index .* has 2 levels"),
    "missing label": (WIDE.set_axis(["a", None, "c", "d", "e", "f"]), {}, "the index .* has a missing label"),
    "infinite": (WIDE.replace(HOLES[1, 3], np.inf), {}, r"the cell \(row b, column 3\) is inf"),
    "text": (WIDE.assign(group="x"), {"layout": "wide"}, "and 'group' does not.*frame.set_index"),
    "long with two columns": (LONG[["user", "film"]], {"layout": "long"}, "must have three columns.*layout='wide'"),
    "names twice": (LONG.set_axis(["a", "a", "b"], axis=1), {"layout": "long"}, "several columns of one name"),
    "cell twice": (LONG.assign(film=30).astype({"user": str}), {}, r"the cell \(row 1, column 30\) is given more"),
}


@pytest.mark.parametrize(("data", "options", "message"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusal(data: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_observations(data, **options)


def test_labels_come_back_on_matrices() -> None:
    plain = Observations.from_triples([0, 1], [0, 1], [1.0, 2.0])
    assert with_labels(np.eye(2), plain) is not None
    assert isinstance(with_labels(np.eye(2), plain), np.ndarray)
    frame = with_labels(HOLES, as_observations(WIDE), ("plant", None))
    pd.testing.assert_frame_equal(frame, WIDE.rename_axis("plant"))


def test_how_a_frame_was_read_is_described() -> None:
    pivot = LONG.pivot_table(index="user", columns="film", values="stars")
    for frame, value in ((LONG, "stars"), (pivot, None)):
        found = describe_frame(frame, frame_layout(frame), as_observations(frame))
        assert (found["kind"], found["row"], found["col"]) == ("wide" if value is None else "long", "user", "film")
        assert found["value"] == value
        assert (found["row_labels"], found["column_labels"]) == ("integer", "integer")
