"""Tables of results: formatted for the page, as records for JSON, as CSV and as Markdown."""

import csv
import io
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

__all__ = ["Column", "Table", "format_number"]


def format_number(value: float) -> str:
    """Return a number with three significant digits, without an exponent from 100 to a million."""
    return f"{value:.0f}" if 100.0 <= abs(value) < 1e6 else f"{value:.3g}"


class Column(NamedTuple):
    """A column of a table.

    A cell that holds several numbers is one column on the page and several in files: ``fields`` are their names.
    """

    title: str
    format: Callable[[Any], str] = str
    fields: tuple[str, ...] = ()


class Table(NamedTuple):
    """A table and its file name.  Cells are numbers, strings, or as many numbers as the column has fields."""

    name: str
    columns: tuple[Column, ...]
    rows: list[tuple[Any, ...]]

    def formatted(self) -> list[list[str]]:
        """Return the cells as strings; missing values are empty."""
        return [
            ["" if cell is None else column.format(cell) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def records(self) -> list[dict[str, Any]]:
        """Return each row as a dictionary of unformatted values."""
        return [dict(self._named(row)) for row in self.rows]

    def _named(self, row: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
        for column, cell in zip(self.columns, row, strict=True):
            if column.fields:
                values = (None,) * len(column.fields) if cell is None else cell
                yield from zip(column.fields, values, strict=True)
            else:
                yield column.title, cell

    def to_csv(self) -> str:
        """Return the table as CSV."""
        text = io.StringIO()
        names = [name for column in self.columns for name in column.fields or (column.title,)]
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records())
        return text.getvalue()

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        titles = [column.title for column in self.columns]
        lines = [titles, ["---" for _ in titles], *self.formatted()]
        return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
