"""What the table of a run calls its rows, columns and values."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from manifill.problem import CellNames, Observations

__all__ = ["TableNames", "cell_names", "table_names"]


class TableNames(NamedTuple):
    """What the table calls its rows, columns and values, for example user, movie and rating."""

    row: str = "row"
    column: str = "column"
    value: str = "value"


def table_names(attributes: Mapping[str, Any]) -> TableNames:
    """Return the names in the layout that is stored with the draws, or the default names if there is none."""
    layout = attributes.get("layout") or {}
    names = (layout.get(key) or default for key, default in zip(("row", "col", "value"), TableNames(), strict=True))
    return TableNames(*names)


def cell_names(observations: Observations, attributes: Mapping[str, Any]) -> CellNames:
    """Return the names of the cells of a run, from its data and the attributes of its draws."""
    names = table_names(attributes)
    return CellNames(names.row, names.column, observations.row_labels, observations.column_labels)
