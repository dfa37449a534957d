"""Labels of the rows and columns of a run, as its table had them."""

from typing import Any

from manifill.estimators.matrix_completion import MatrixCompletion
from manifill.tables import Layout

__all__ = ["labels_of", "layout_of", "row_label"]


def layout_of(model: MatrixCompletion) -> Layout:
    """Return the layout of the table that was fitted; runs made in Python have none and get the default."""
    saved = model.posterior_.attributes.get("layout")
    return Layout("long") if saved is None else Layout.from_json(saved)


def labels_of(model: MatrixCompletion) -> tuple[Any, Any]:
    """Return the labels of rows and columns, (m,) and (n,); their numbers from 0 if they have no labels."""
    observations = model.observations_
    given = zip((observations.row_labels, observations.column_labels), observations.shape, strict=True)
    rows, columns = (range(size) if labels is None else labels for labels, size in given)
    return rows, columns


def row_label(model: MatrixCompletion, text: str) -> Any:
    """Return the value of ``--row`` as the run has it: an int if its row labels are whole numbers."""
    if layout_of(model).row_labels != "integer":
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"--row {text} is not a label of this run; its row labels are whole numbers.") from None
