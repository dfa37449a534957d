"""The labels of a DataFrame: as a run stores them, and on the matrices that are returned."""

from typing import Any

import numpy as np

from manifill.base.arrays import Array, Matrix
from manifill.problem.frames import Layout
from manifill.problem.observations import Observations

__all__ = ["describe_frame", "with_labels"]


def describe_frame(frame: Any, layout: Layout, observations: Observations) -> dict[str, Any]:
    """Return how a frame was read, as runs store it: what its rows, columns and values are called, and their labels."""
    names = list(frame.columns) if layout == "long" else [frame.index.name, frame.columns.name, None]
    row, column, value = (None if name is None else str(name) for name in names)
    return {
        "kind": layout,
        "row": row,
        "col": column,
        "value": value,
        "row_labels": _kind(observations.row_labels),
        "column_labels": _kind(observations.column_labels),
        "left_out": [],
        "guessed": False,
    }


def with_labels(matrix: Matrix, observations: Observations, names: tuple[str | None, str | None] = (None, None)) -> Any:
    """Return an m×n matrix as a DataFrame with the labels of the data, or unchanged if they have none.

    ``names`` are those of the index and of the columns.
    """
    labels = observations.row_labels, observations.column_labels
    if all(known is None for known in labels):
        return matrix
    import pandas as pd

    index, columns = (
        pd.RangeIndex(size, name=name) if known is None else pd.Index(known, name=name)
        for known, size, name in zip(labels, matrix.shape, names, strict=True)
    )
    return pd.DataFrame(matrix, index=index, columns=columns)


def _kind(labels: Array | None) -> str:
    return "integer" if np.issubdtype(np.asarray(labels).dtype, np.integer) else "text"
