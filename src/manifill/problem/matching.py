"""Cells of other data, matched to the rows and columns of a fit by label."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manifill.base.arrays import Array, IntVector
from manifill.problem.convert import as_observations
from manifill.problem.frames import Layout
from manifill.problem.observations import Duplicates, Observations

__all__ = ["matched_cells"]


def matched_cells(
    fit: Observations,
    data: Any,
    cols: ArrayLike | None = None,
    values: ArrayLike | None = None,
    duplicates: Duplicates = "error",
    layout: Layout | None = None,
) -> tuple[IntVector, IntVector, ArrayLike]:
    """Return row indices, column indices and values of data in any form that a fit accepts.

    The indices are those of the fit.  Triples and DataFrames identify cells as the data of the fit do, by label or by
    index from 0; arrays and sparse matrices by index only.
    """
    if cols is not None and values is not None:
        return fit.row_indices(data), fit.column_indices(cols), values
    other = as_observations(data, cols, values, duplicates=duplicates, layout=layout)
    rows, columns, found = other.triples()
    row_names = _named("rows", rows, other.row_labels, fit.row_labels)
    column_names = _named("columns", columns, other.column_labels, fit.column_labels)
    return fit.row_indices(row_names), fit.column_indices(column_names), found


def _named(name: str, index: IntVector, labels: Array | None, fitted: Array | None) -> Array:
    if labels is not None:
        return np.asarray(labels)[index]
    if fitted is not None:
        raise ValueError(
            f"the {name} of the fit have labels, but those of these data have none; give rows, cols and values with "
            "labels, or a DataFrame."
        )
    return index
