"""A file's columns, whatever the file, and what is needed to speak of them."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

import pandas as pd

from manifill.tables.words import shown

__all__ = ["EXACT", "MISSING", "Sheet", "check_names", "is_numeric"]

# What stands for a missing entry, in numbers and in labels.
MISSING = ("", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "Null", "NULL", "None", "?")

# What makes pandas read every number to the last bit; it does so by itself since 3.1.
EXACT: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)


class Sheet(Protocol):
    """A file's columns by name: numbers where a whole column is numbers, text elsewhere, NaN where missing."""

    @property
    def file(self) -> str:
        """The file's name, for messages."""

    @property
    def frame(self) -> Any:
        """The DataFrame of the columns."""

    @property
    def header(self) -> bool:
        """Whether the file names its columns; they are called 0, 1, … where it does not."""

    @property
    def index(self) -> str | None:
        """The column that the file itself marks as names of rows."""

    @property
    def decimal(self) -> str:
        """What separates the decimals of a number that is still text."""

    @property
    def said(self) -> tuple[str, ...]:
        """What had to be guessed to read the file."""

    def written(self, names: Sequence[str]) -> Any:
        """Return these columns as text, as the file has it."""

    def original(self) -> Any:
        """Return a new DataFrame of all columns with nothing interpreted."""

    def place(self, record: int) -> str:
        """Return where the entries at this position of the columns stand in the file."""


def is_numeric(column: Any) -> bool:
    """Whether a column of a sheet, or of a file, holds numbers; True and False are none."""
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))


def check_names(file: str, names: Sequence[str]) -> None:
    """Raise a ValueError where two columns have one name."""
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise ValueError(f"{file} has {count} columns named {shown(name)}; give each a name of its own.")
