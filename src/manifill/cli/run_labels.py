"""Labels of the rows and columns of a run, as its table had them."""

from itertools import islice
from typing import Any

from manifill.estimators.matrix_completion import MatrixCompletion
from manifill.problem.cell_names import as_text, label_text
from manifill.tables import Layout

__all__ = ["by_text", "labels_of", "layout_of", "row_label"]

EXAMPLES = 3  # labels that a message lists


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


def by_text(labels: Any) -> dict[str, Any]:
    """Return labels by what people write for them; those of a run made in Python may be numbers or dates."""
    return {as_text(label): label for label in labels}


def row_label(model: MatrixCompletion, text: str) -> Any:
    """Return the row label that ``--row`` names."""
    labels = by_text(labels_of(model)[0])
    if text not in labels:
        some = ", ".join(label_text(name) for name in islice(labels, EXAMPLES))
        more = ", …" if len(labels) > EXAMPLES else ""
        raise ValueError(f"--row {label_text(text)} is not a row of this run, whose rows are {some}{more}; correct it.")
    return labels[text]
