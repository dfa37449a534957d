"""The cells that a report lists predictions of: those whose values nobody knows."""

import numpy as np

from manifill.base.arrays import Array
from manifill.report.report_data import ReportData

__all__ = ["unknown_cells"]


def unknown_cells(data: ReportData) -> Array:
    """Return a mask of the cells that are neither in the fit nor held out of it, (m, n)."""
    given = () if data.held_out is None else (data.held_out,)  # which the run need not store
    mask = np.ones(data.mean.shape, dtype=bool)
    for cells in (*data.model.known_cells_, *given):
        rows, cols, _ = cells.triples()
        mask[rows, cols] = False
    return mask
