"""Predictions to look up: for each row, the unobserved columns with the highest or most certain predictions."""

from itertools import groupby
from typing import NamedTuple

import numpy as np

from manifill.base.arrays import IntVector
from manifill.report.formatting import PageTable
from manifill.report.report_data import CellPredictions, Cells, ReportData
from manifill.report.unknown_cells import unknown_cells

__all__ = ["PredictionLists", "prediction_lists", "top_cells"]

MAX_ROWS, MAX_COLUMNS = 200, 10


class PredictionLists(NamedTuple):
    """The section with the predictions."""

    rows: list[tuple[str, PageTable]]  # label of a row, and its predictions
    rows_with_gaps: int  # number of rows with an unobserved cell, of which MAX_ROWS at most are listed
    full_rows: int  # number of all others
    is_by_value: bool  # or by uncertainty, if the columns have different units


def top_cells(data: ReportData) -> Cells:
    """Return the cells to list, row by row; the rows with the most observed cells come first."""
    unknown = unknown_cells(data)
    gaps = unknown.sum(axis=1)
    has_gaps = np.flatnonzero(gaps)
    rows = has_gaps[np.argsort(gaps[has_gaps], kind="stable")][:MAX_ROWS]
    columns = [_top_columns(data, row, np.flatnonzero(unknown[row])) for row in rows]
    empty = np.empty(0, dtype=np.int64)
    return Cells(np.repeat(rows, [part.size for part in columns]), np.concatenate([empty, *columns]))


def prediction_lists(data: ReportData, predictions: CellPredictions) -> PredictionLists:
    """Return the section; ``predictions`` are for ``top_cells``."""
    header = (*data.names[1:], "90\N{NO-BREAK SPACE}% interval")
    cells = zip(predictions.cells.rows, data.prediction_rows(predictions), strict=True)
    rows = [
        (data.row_labels[row], PageTable(header, [texts[1:] for _, texts in group]))
        for row, group in groupby(cells, key=lambda cell: cell[0])
    ]
    with_gaps = int(unknown_cells(data).any(axis=1).sum())
    return PredictionLists(rows, with_gaps, len(data.row_labels) - with_gaps, not data.is_scaled)


def _top_columns(data: ReportData, row: int, columns: IntVector) -> IntVector:
    """Return those of the unobserved columns of a row to list, best first."""
    merit = -data.sd[row] / data.spreads if data.is_scaled else data.mean[row]
    return columns[np.argsort(-merit[columns], kind="stable")[:MAX_COLUMNS]]
