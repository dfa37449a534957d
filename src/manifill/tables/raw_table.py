"""The columns of a table before interpretation, the same for all file formats."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

import pandas as pd

from manifill.tables.message_text import display_name

__all__ = ["EXACT_FLOATS", "MISSING", "RawTable", "check_names", "is_numeric"]

# Entries that mean missing, in numbers and in labels.
MISSING = ("", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "Null", "NULL", "None", "?")

# Makes pandas parse floats exactly, which is the default since 3.1.
EXACT_FLOATS: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)


class RawTable(Protocol):
    """The columns of a file: numbers if the whole column is numeric, otherwise text; NaN for missing entries."""

    @property
    def file(self) -> str:
        """The name of the file, for messages."""

    @property
    def frame(self) -> Any:
        """The DataFrame of the columns."""

    @property
    def header(self) -> bool:
        """Whether the file has column names; otherwise the columns are named 0, 1, …."""

    @property
    def index(self) -> str | None:
        """The column that the file marks as row names."""

    @property
    def decimal(self) -> str:
        """The decimal separator of numbers in columns of text."""

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each thing that was inferred to read the file."""

    def as_text(self, names: Sequence[str]) -> Any:
        """Return these columns as the text in the file."""

    def original(self) -> Any:
        """Return a new DataFrame of all columns, unconverted."""

    def location(self, record: int) -> str:
        """Return the location of a record in the file, for messages, for example ``line 3``."""


def is_numeric(column: Any) -> bool:
    """Whether a column is numeric; booleans are not."""
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))


def check_names(file: str, names: Sequence[str]) -> None:
    """Raise a ValueError if two columns have the same name."""
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise ValueError(f"{file} has {count} columns named {display_name(name)}; give each a unique name.")
