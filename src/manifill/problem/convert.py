"""Conversion of every accepted form of data to :class:`Observations`."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manifill.problem.observations import Duplicates, Observations

__all__ = ["as_observations", "from_array", "from_frame", "from_sparse"]


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


def from_frame(
    frame: Any,
    row: str | None = None,
    column: str | None = None,
    value: str | None = None,
    duplicates: Duplicates = "error",
) -> Observations:
    """Return the cells of a long pandas DataFrame with one row per cell.

    ``row``, ``column`` and ``value`` name its columns; by default these are its three columns, in this order.  Labels
    may be of any type and are numbered in sorted order if they can be sorted.
    """
    import pandas as pd

    names = list(frame.columns)
    if len(names) < 3 or (len(names) > 3 and None in (row, column, value)):
        raise ValueError(
            f"the DataFrame must be long, with three columns: row, column and value; it has {names}. Choose them with "
            "frame[[row, column, value]], or give a wide table as an array: frame.to_numpy()."
        )
    chosen = [given if given is not None else names[k] for k, given in enumerate((row, column, value))]
    absent = [name for name in chosen if name not in names]
    if absent:
        raise ValueError(f"the DataFrame has no column {absent[0]!r}; its columns are {names}.")
    labelled = []
    for name in chosen[:2]:
        codes, labels = pd.factorize(frame[name], sort=True)
        if (codes < 0).any():
            raise ValueError(
                f"column {name!r} has a missing label in row {int(np.argmax(codes < 0))}; fill or drop it."
            )
        labelled.append((codes, np.asarray(labels)))
    (rows, row_labels), (cols, column_labels) = labelled
    return Observations.from_triples(
        rows,
        cols,
        frame[chosen[2]].to_numpy(),
        (len(row_labels), len(column_labels)),
        row_labels=row_labels,
        column_labels=column_labels,
        duplicates=duplicates,
    )


def as_observations(
    data: Any,
    cols: ArrayLike | None = None,
    values: ArrayLike | None = None,
    shape: tuple[int, int] | None = None,
    duplicates: Duplicates = "error",
) -> Observations:
    """Return observations from triples, or from a single object that holds all cells."""
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
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        return from_frame(data, duplicates=duplicates)
    return from_array(data)
