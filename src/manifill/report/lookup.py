"""The predictions that people look up: for a row, the unobserved columns that promise most."""

from itertools import groupby
from typing import NamedTuple

import numpy as np

from manifill.report.study import Answer, Cells, Study
from manifill.report.words import Table
from manifill.types import IntVector

__all__ = ["Lookup", "lookup", "promising_cells"]

MOST_ROWS, MOST_COLUMNS = 200, 10


class Lookup(NamedTuple):
    """The section of predictions."""

    rows: list[tuple[str, Table]]  # a row's label and its columns
    is_by_value: bool  # or by how sure they are, since columns have units of their own


def promising_cells(study: Study) -> Cells:
    """Return the cells to show, row by row, those with most data first."""
    observed = np.diff(study.observations.by_row.starts)
    has_gaps = np.flatnonzero(observed < study.mean.shape[1])
    rows = has_gaps[np.argsort(-observed[has_gaps], kind="stable")][:MOST_ROWS]
    columns = [_best(study, row) for row in rows]
    nothing = np.empty(0, dtype=np.int64)
    return Cells(np.repeat(rows, [part.size for part in columns]), np.concatenate([nothing, *columns]))


def lookup(study: Study, answer: Answer) -> Lookup:
    """Return the section."""
    heads = (*study.names[1:], "90\N{NO-BREAK SPACE}% interval")
    lines = zip(answer.cells.rows, study.told(answer), strict=True)
    rows = [
        (study.row_labels[row], Table(heads, [line[1:] for _, line in group]))
        for row, group in groupby(lines, key=lambda line: line[0])
    ]
    return Lookup(rows, not study.is_scaled)


def _best(study: Study, row: int) -> IntVector:
    """Return the unobserved columns of a row that come first."""
    columns = np.flatnonzero(study.unobserved[row])
    merit = -study.sd[row] / study.spreads if study.is_scaled else study.mean[row]
    return columns[np.argsort(-merit[columns], kind="stable")[:MOST_COLUMNS]]
