"""Pandas DataFrames as observations: long ones, wide ones, and the rule that tells them apart.

A long frame has one row per cell: row label, column label, value.  A wide frame is the matrix itself: its index and its
column names are the labels, and NaN is a missing cell.  A wrong guess would fit another matrix without an error, so the
rule decides only if a single reading is likely, and asks for ``layout`` otherwise.
"""

from typing import Any, Literal

import numpy as np

from manifill.base.arrays import Array
from manifill.base.wording import counted
from manifill.problem.cell_names import CellNames, label_text
from manifill.problem.observations import Duplicates, Observations

__all__ = ["Layout", "frame_layout", "from_frame", "from_wide_frame"]

Layout = Literal["long", "wide"]

MAX_LISTED = 6  # names of columns in a message


def frame_layout(frame: Any, given: Layout | None = None) -> Layout:
    """Return the layout of a DataFrame: the one that is given, or the only likely one; otherwise raise a ValueError.

    Long: exactly three columns, of which the first two hold labels (text, dates, whole or repeated numbers, none of
    them missing), or which are not all numeric.
    Wide: all columns are numeric, and the rows are named (an index of text or dates, or a name for the index or the
    columns) or some cell is missing.  What fits both descriptions is ambiguous, and so are three numeric columns whose
    rows are not named, or more of which the first two look like labels.
    """
    if given not in ("long", "wide", None):
        raise ValueError(f"layout must be 'long' or 'wide', not {given!r}.")
    if not hasattr(frame, "iloc"):
        raise ValueError(f"a DataFrame must be one of pandas, not {type(frame)}; convert it with frame.to_pandas().")
    if given is not None:
        return given
    is_matrix = all(_is_numeric(frame.iloc[:, k]) for k in range(frame.shape[1]))
    has_labels = frame.shape[1] >= 3 and all(_are_labels(frame.iloc[:, k]) for k in range(2))
    named, three = _are_rows_named(frame), frame.shape[1] == 3
    if three and (not is_matrix or (has_labels and not named)):
        return "long"
    if is_matrix and named and not (three and has_labels):
        return "wide"
    if is_matrix and not named and not three and not has_labels and bool(frame.isna().any(axis=None)):
        return "wide"
    raise ValueError(_question(frame, is_matrix=is_matrix))


def from_frame(
    frame: Any,
    row: str | None = None,
    column: str | None = None,
    value: str | None = None,
    duplicates: Duplicates = "error",
) -> Observations:
    """Return the cells of a long pandas DataFrame with one row per cell; one whose value is missing is unobserved.

    ``row``, ``column`` and ``value`` name its columns; by default these are its three columns, in this order.  Labels
    may be of any type and are numbered in sorted order if they can be sorted.
    """
    import pandas as pd

    names = list(frame.columns)
    if len(names) < 3 or (len(names) > 3 and None in (row, column, value)):
        raise ValueError(
            f"a long DataFrame must have three columns: row, column and value; it has {_listed(names)}. Choose them "
            "with frame[[row, column, value]], or pass layout='wide' if the frame is the matrix itself."
        )
    chosen = [given if given is not None else names[k] for k, given in enumerate((row, column, value))]
    if any(names.count(name) > 1 for name in chosen):
        raise ValueError(f"the DataFrame has several columns of one name: {_listed(names)}; rename them.")
    absent = [name for name in chosen if name not in names]
    if absent:
        raise ValueError(f"the DataFrame has no column {absent[0]!r}; its columns are {_listed(names)}.")
    labelled = []
    for name in chosen[:2]:
        codes, labels = pd.factorize(frame[name], sort=True)
        if (codes < 0).any():
            raise ValueError(
                f"column {name!r} has a missing label in row {int(np.argmax(codes < 0))}; fill or drop it."
            )
        labelled.append((codes, np.asarray(labels)))
    (rows, row_labels), (cols, column_labels) = labelled
    observed = frame[chosen[2]].notna().to_numpy()
    return Observations.from_triples(
        rows[observed],
        cols[observed],
        frame[chosen[2]].to_numpy()[observed],
        (len(row_labels), len(column_labels)),
        row_labels=row_labels,
        column_labels=column_labels,
        duplicates=duplicates,
    )


def from_wide_frame(frame: Any) -> Observations:
    """Return the cells of a wide pandas DataFrame that are not NaN; its index and column names are the labels."""
    odd = [name for k, name in enumerate(frame.columns) if not _is_numeric(frame.iloc[:, k])]
    if odd:
        raise ValueError(
            f"a wide DataFrame must hold numbers, and {_listed(odd)} {'does' if len(odd) == 1 else 'do'} not; drop "
            "what is no number, or make the column that names the rows the index with frame.set_index."
        )
    row_labels, column_labels = _axis_labels("index", frame.index), _axis_labels("columns", frame.columns)
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    rows, cols = np.nonzero(~np.isnan(values))
    infinite = np.flatnonzero(np.isinf(values[rows, cols]))
    if infinite.size:
        at = rows[infinite[0]], cols[infinite[0]]
        cell = CellNames(row_labels=row_labels, column_labels=column_labels).cell(*at)
        raise ValueError(f"the cell ({cell}) is {values[at]}; give finite numbers, and NaN for missing cells.")
    return Observations.from_triples(
        rows, cols, values[rows, cols], values.shape, row_labels=row_labels, column_labels=column_labels
    )


def _is_numeric(column: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype))


def _are_labels(column: Any) -> bool:
    """Return whether a column may hold labels: none is missing, and numbers are whole, or repeated like times."""
    if column.isna().any():
        return False
    return not _is_numeric(column) or bool((column == column.round()).all()) or 2 * column.nunique() <= len(column)


def _are_rows_named(frame: Any) -> bool:
    """Return whether the index of a frame is more than the numbering that pandas gives it, or that filters leave."""
    import pandas as pd

    has_names = frame.index.name is not None or frame.columns.name is not None
    return has_names or not pd.api.types.is_integer_dtype(frame.index.dtype)


def _axis_labels(axis: str, index: Any) -> Array:
    """Return the labels of an axis, or raise a ValueError if they do not identify its rows or columns."""
    if index.nlevels > 1:
        raise ValueError(f"the {axis} of the DataFrame has {index.nlevels} levels; give each row and column one label.")
    if index.hasnans:
        raise ValueError(f"the {axis} of the DataFrame has a missing label; give each row and column one label.")
    if not index.is_unique:
        label = label_text(index[index.duplicated()][0])
        raise ValueError(
            f"the {axis} of the DataFrame has the label {label} more than once; make its labels unique, or pass the "
            "array frame.to_numpy()."
        )
    return np.asarray(index)


def _question(frame: Any, *, is_matrix: bool) -> str:
    """Return a sentence that asks for the layout, or names what neither layout can have."""
    names = list(frame.columns)
    if is_matrix:
        return (
            f"a DataFrame with the columns {_listed(names)} may be long or wide; pass layout='wide' if it is the "
            "matrix, with NaN for missing cells, or frame[[row, column, value]] and layout='long' if a row is a cell."
        )
    return (
        f"a DataFrame must be long, with three columns for row, column and value, or wide, with numbers only; this one "
        f"has the {counted(len(names), 'column')} {_listed(names)}. Choose frame[[row, column, value]], or make the "
        "column that names the rows the index with frame.set_index and drop other text."
    )


def _listed(names: list[Any]) -> str:
    shown = [repr(name) for name in names[:MAX_LISTED]]
    more = [f"{len(names) - MAX_LISTED} more"] if len(names) > MAX_LISTED else []
    return ", ".join(shown + more)
