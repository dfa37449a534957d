"""Conversion of every accepted form of data to :class:`Observations`."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manifill.problem.frames import Layout, frame_layout, from_frame, from_wide_frame
from manifill.problem.observations import Duplicates, Observations

__all__ = ["as_observations", "from_array", "from_sparse", "is_frame"]


def from_array(array: ArrayLike) -> Observations:
    """Return the cells of a 2-D array that are not NaN."""
    try:
        dense = np.ma.filled(np.ma.asarray(array, dtype=np.float64), np.nan)  # masked cells are missing
    except (TypeError, ValueError) as error:
        raise ValueError(f"the array must hold numbers, with NaN for missing cells: {error}.") from None
    if dense.ndim != 2:
        raise ValueError(f"the array must be a matrix with NaN for missing cells, not of shape {dense.shape}.")
    rows, cols = np.nonzero(~np.isnan(dense))
    return Observations.from_triples(rows, cols, dense[rows, cols], dense.shape)


def from_sparse(matrix: Any, duplicates: Duplicates = "error") -> Observations:
    """Return the stored cells of a ``scipy.sparse`` matrix; explicit zeros are observations."""
    triples = matrix.tocoo()
    return Observations.from_triples(triples.row, triples.col, triples.data, matrix.shape, duplicates=duplicates)


def as_observations(
    data: Any,
    cols: ArrayLike | None = None,
    values: ArrayLike | None = None,
    shape: tuple[int, int] | None = None,
    duplicates: Duplicates = "error",
    layout: Layout | None = None,
) -> Observations:
    """Return observations from triples, or from a single object that holds all cells.

    ``layout`` says whether a DataFrame is long or wide; see ``frame_layout`` for the rule without it.
    """
    if layout is not None and not (cols is values is None and is_frame(data)):
        raise ValueError(f"layout={layout!r} is for a DataFrame; leave it out.")
    if cols is not None or values is not None:
        if cols is None or values is None:
            raise ValueError("rows, cols and values go together; one of cols and values is missing.")
        return Observations.from_triples(data, cols, values, shape, duplicates=duplicates)
    if shape is not None:
        raise ValueError("shape goes with rows, cols and values; other forms of data already have a shape.")
    if isinstance(data, Observations):
        return data
    if hasattr(data, "tocoo"):
        return from_sparse(data, duplicates)
    if is_frame(data):
        is_long = frame_layout(data, layout) == "long"
        return from_frame(data, duplicates=duplicates) if is_long else from_wide_frame(data)
    return from_array(data)


def is_frame(data: Any) -> bool:
    """Return whether data are a pandas DataFrame; pandas need not be imported to know."""
    return hasattr(data, "columns") and hasattr(data, "to_numpy")
