"""Other data on the rows and columns of a fit, found by their names."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manifill.problem.convert import as_observations
from manifill.problem.observations import Duplicates, Observations
from manifill.types import Array, IntVector

__all__ = ["matched_cells"]


def matched_cells(
    fit: Observations,
    data: Any,
    cols: ArrayLike | None = None,
    values: ArrayLike | None = None,
    duplicates: Duplicates = "error",
) -> tuple[IntVector, IntVector, ArrayLike]:
    """Return rows, columns and values of data in any form that a fit accepts, by the numbers that the fit has for them.

    Cells of triples and of DataFrames are named as in the data of the fit, by labels or by numbers from 0; those of
    arrays and sparse matrices have no names but their numbers.
    """
    if cols is not None and values is not None:
        return fit.row_indices(data), fit.column_indices(cols), values
    other = as_observations(data, cols, values, duplicates=duplicates)
    rows, columns, found = other.triples()
    row_names = _named("rows", rows, other.row_labels, fit.row_labels)
    column_names = _named("columns", columns, other.column_labels, fit.column_labels)
    return fit.row_indices(row_names), fit.column_indices(column_names), found


def _named(name: str, index: IntVector, labels: Array | None, fitted: Array | None) -> Array:
    if labels is not None:
        return np.asarray(labels)[index]
    if fitted is not None:
        raise ValueError(
            f"the {name} of the fit have labels, but those of these data have none; give rows, cols and values by "
            "label, or a DataFrame of them."
        )
    return index
