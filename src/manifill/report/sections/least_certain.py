"""The least certain predictions: rows, columns and unobserved cells with the largest standard deviations."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import IntVector, Vector
from manifill.report.formatting import PageTable
from manifill.report.report_data import CellPredictions, Cells, ReportData
from manifill.report.unknown_cells import unknown_cells

__all__ = ["LeastCertain", "least_certain", "least_certain_cells"]

LISTED = 8


class LeastCertain(NamedTuple):
    """The section on the least certain predictions."""

    rows: PageTable
    columns: PageTable
    cells: PageTable  # unobserved cells


def least_certain_cells(data: ReportData) -> Cells:
    """Return the unobserved cells with the largest standard deviations, in decreasing order."""
    unknown = unknown_cells(data)
    relative = np.where(unknown, data.sd / data.spreads, -np.inf).ravel()
    count = min(LISTED, int(unknown.sum()))
    worst = np.argpartition(-relative, count)[:count] if count < relative.size else np.arange(count)
    return Cells(*np.divmod(worst[np.argsort(-relative[worst], kind="stable")], data.mean.shape[1]))


def least_certain(data: ReportData, predictions: CellPredictions) -> LeastCertain:
    """Return the section; ``predictions`` are for ``least_certain_cells``.  Units are the spreads of the columns."""
    relative = data.sd / data.spreads
    names, (by_row, by_column) = data.names, (data.observations.by_row, data.observations.by_column)
    header = (*names, "90\N{NO-BREAK SPACE}% interval")
    return LeastCertain(
        rows=_largest(data, names.row, data.row_labels, np.diff(by_row.starts), relative.mean(axis=1)),
        columns=_largest(data, names.column, data.column_labels, np.diff(by_column.starts), relative.mean(axis=0)),
        cells=PageTable(header, data.prediction_rows(predictions), text_columns=2),
    )


def _largest(data: ReportData, name: str, labels: list[str], observed: IntVector, sd: Vector) -> PageTable:
    """Return the rows or columns with the largest mean standard deviations."""
    worst = np.argsort(-sd, kind="stable")[:LISTED]
    rows = [(labels[k], str(observed[k]), data.format(sd[k])) for k in worst]
    return PageTable((name, "observed cells", "mean sd"), rows)
