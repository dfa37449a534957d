"""Every bad input is a ValueError that names the argument; a table of calls and of what the message must say."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from manifill.problem import Observations, as_observations, from_array, from_frame, from_sparse

GOOD = Observations.from_triples([0, 1, 2], [0, 1, 0], [1.0, 2.0, 3.0])
LABELLED = Observations.from_triples([0, 1], [0, 1], [1.0, 2.0], row_labels=np.array(["a", "b"]))
FRAME = pd.DataFrame({"user": ["x", None], "item": ["i", "j"], "stars": [1.0, 2.0]})


def triples(rows: Any, cols: Any, values: Any, shape: Any = None, **options: Any) -> Callable[[], object]:
    return lambda: Observations.from_triples(rows, cols, values, shape, **options)


REFUSALS: dict[str, tuple[Callable[[], object], str]] = {
    "lengths": (triples([0, 1], [0], [1.0]), "rows, cols and values must have the same length, not 2, 1 and 1"),
    "nothing": (triples([], [], []), "values is empty"),
    "negative row": (triples([0, -3], [0, 1], [1.0, 2.0]), "rows holds the negative index -3"),
    "negative column": (triples([0, 1], [0, -1], [1.0, 2.0]), "cols holds the negative index -1"),
    "fractional row": (triples([0, 1.5], [0, 1], [1.0, 2.0]), r"rows must hold whole numbers .* 1\.5"),
    "NaN row": (triples([0, np.nan], [0, 1], [1.0, 2.0]), "rows must hold whole numbers .* nan"),
    "infinite column": (triples([0, 1], [0, np.inf], [1.0, 2.0]), "cols must hold whole numbers .* inf"),
    "text column": (triples([0, 1], ["a", "b"], [1.0, 2.0]), "cols must hold whole numbers .* 'a'"),
    "matrix of rows": (triples([[0, 1]], [0, 1], [1.0, 2.0]), r"rows must be a list .* shape \(1, 2\)"),
    "scalar column": (triples([0], 0, [1.0]), r"cols must be a list .* shape \(\)"),
    "text values": (triples([0, 1], [0, 1], ["a", "b"]), "values must be numbers"),
    "matrix of values": (triples([0], [0], [[1.0]]), r"values must be a list .* shape \(1, 1\)"),
    "NaN value": (triples([0, 1], [0, 1], [1.0, np.nan]), r"values\[1\] is nan"),
    "infinite value": (triples([0, 1], [0, 1], [-np.inf, 1.0]), r"values\[0\] is -inf"),
    "row beyond shape": (
        triples([0, 5], [0, 1], [1.0, 2.0], (3, 2)),
        r"rows holds the index 5, outside shape=\(3, 2\)",
    ),
    "column beyond shape": (triples([0, 1], [0, 2], [1.0, 2.0], (3, 2)), "cols holds the index 2, outside shape"),
    "shape of one": (triples([0], [0], [1.0], 3), "shape must be a pair of whole numbers"),
    "shape of three": (triples([0], [0], [1.0], (1, 2, 3)), "shape must be a pair of whole numbers"),
    "fractional shape": (triples([0], [0], [1.0], (2.5, 2)), "shape must be a pair of whole numbers"),
    "shape in words": (triples([0], [0], [1.0], ("two", "three")), "shape must be a pair of whole numbers"),
    "duplicates": (triples([0, 1, 1], [0, 1, 1], [1.0, 2.0, 2.0]), r"\(row 1, column 1\) is given more than once"),
    "duplicates option": (
        triples([0], [0], [1.0], duplicates="sum"),
        "duplicates must be 'error' or 'average', not 'sum'",
    ),
    "row labels": (triples([0, 1], [0, 1], [1.0, 2.0], row_labels=np.array(["a"])), "row_labels must hold 2 labels"),
    "column labels": (
        triples([0, 1], [0, 1], [1.0, 2.0], column_labels=np.array(["a"] * 3)),
        "column_labels must hold 2 labels, one for each, not 3",
    ),
    "unknown row": (lambda: GOOD.row_indices([0, 3]), "rows holds the index 3, but there are only 3"),
    "unknown column": (lambda: GOOD.column_indices([2]), "cols holds the index 2, but there are only 2"),
    "unknown label": (lambda: LABELLED.row_indices(["b", "zoe"]), "rows holds 'zoe', which is not among the 2 labels"),
    "share of 0": (lambda: GOOD.split(np.random.default_rng(1), 0.0), "held_out is the fraction .* not 0.0"),
    "share of 1": (lambda: GOOD.split(np.random.default_rng(1), 1), "held_out is the fraction .* not 1"),
    "share of NaN": (lambda: GOOD.split(np.random.default_rng(1), np.nan), "held_out is the fraction .* not nan"),
    "too few to split": (lambda: GOOD.split(np.random.default_rng(1), 0.1), "held_out"),
    "too many cells": (lambda: GOOD.split_cells(np.random.default_rng(1), 0.5, 0.5), "train=0.5 and validate=0.5"),
    "negative share": (lambda: GOOD.split_cells(np.random.default_rng(1), -0.2, 0.2), "train=-0.2"),
    "NaN share": (lambda: GOOD.split_cells(np.random.default_rng(1), np.nan, 0.2), "train=nan"),
    "array of three dimensions": (lambda: from_array(np.zeros((2, 2, 2))), r"array must be a matrix .* \(2, 2, 2\)"),
    "array of text": (lambda: from_array([["a", "b"]]), "array must hold numbers"),
    "array of NaN": (lambda: from_array(np.full((2, 2), np.nan)), "values is empty"),
    "infinity in an array": (lambda: from_array([[1.0, np.inf]]), r"values\[1\] is inf"),
    "NaN in a sparse matrix": (lambda: from_sparse(scipy.sparse.csr_array([[1.0, np.nan]])), r"values\[1\] is nan"),
    "frame of two columns": (lambda: from_frame(FRAME[["user", "item"]]), "three columns: row, column and value"),
    "frame without the column": (lambda: from_frame(FRAME, value="rating"), "no column 'rating'"),
    "frame without a label": (lambda: from_frame(FRAME), "'user' has a missing label in row 1"),
    "frame of text": (lambda: from_frame(FRAME, "item", "stars", "item"), "values must be numbers"),
    "rows and cols only": (lambda: as_observations([0], cols=[0]), "one of cols and values is missing"),
    "rows and values only": (lambda: as_observations([0], values=[1.0]), "one of cols and values is missing"),
    "shape of an array": (lambda: as_observations([[1.0]], shape=(1, 1)), "shape goes with rows, cols and values"),
}


@pytest.mark.parametrize(("call", "message"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusal(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
