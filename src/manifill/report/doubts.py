"""Where is the model least sure?  Rows, columns and cells with the largest standard deviations."""

from typing import NamedTuple

import numpy as np

from manifill.report.study import Answer, Cells, Study
from manifill.report.words import Table
from manifill.types import IntVector, Vector

__all__ = ["Doubts", "doubtful_cells", "doubts"]

LISTED = 8


class Doubts(NamedTuple):
    """The section on what is least sure."""

    rows: Table
    columns: Table
    cells: Table  # none of them observed


def doubtful_cells(study: Study) -> Cells:
    """Return the unobserved cells with the largest standard deviations, the largest first."""
    relative = np.where(study.unobserved, study.sd / study.spreads, -np.inf).ravel()
    count = min(LISTED, int(study.unobserved.sum()))
    worst = np.argpartition(-relative, count)[:count] if count < relative.size else np.arange(count)
    return Cells(*np.divmod(worst[np.argsort(-relative[worst], kind="stable")], study.mean.shape[1]))


def doubts(study: Study, answer: Answer) -> Doubts:
    """Return the section; columns with units of their own are compared by their spreads."""
    relative = study.sd / study.spreads
    names, (by_row, by_column) = study.names, (study.observations.by_row, study.observations.by_column)
    rows = _lines(study, names.row, study.row_labels, np.diff(by_row.starts), relative.mean(axis=1))
    columns = _lines(study, names.column, study.column_labels, np.diff(by_column.starts), relative.mean(axis=0))
    return Doubts(rows, columns, Table((*study.names, "90\N{NO-BREAK SPACE}% interval"), study.told(answer), words=2))


def _lines(study: Study, name: str, labels: list[str], observed: IntVector, sd: Vector) -> Table:
    worst = np.argsort(-sd, kind="stable")[:LISTED]
    return Table((name, "observed", "mean sd"), [(labels[k], str(observed[k]), study.say(sd[k])) for k in worst])
