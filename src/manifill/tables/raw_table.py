"""The columns of a table before interpretation, the same for all file formats."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import pandas as pd

from manifill.tables.message_text import display_name
from manifill.tables.missing_codes import MissingCodes
from manifill.tables.raw_column import RawColumn

__all__ = ["EXACT_FLOATS", "RawTable", "check_names"]

# Makes pandas parse floats exactly, which is the default since 3.1.
EXACT_FLOATS: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)


class RawTable(Protocol):
    """The columns of a file: their numbers, or what is known of their text, which is read again if it is needed."""

    @property
    def file(self) -> str:
        """The name of the file, for messages."""

    @property
    def columns(self) -> Mapping[str, RawColumn]:
        """The columns by name, in the order of the file."""

    @property
    def records(self) -> int:
        """The number of entries of each column."""

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
    def missing(self) -> MissingCodes:
        """The entries that mean missing."""

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each thing that was inferred to read the file."""

    def text_pieces(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield DataFrames of consecutive records of these columns, as the text in the file."""

    def as_label(self, text: str) -> str:
        """Return the label that an entry stands for."""

    def original(self) -> Any:
        """Return a new DataFrame of all columns, unconverted."""

    def end_reading(self) -> None:
        """Note that the text is not needed again, which ends the passes over the file."""

    def location(self, record: int) -> str:
        """Return the location of a record in the file, for messages, for example ``line 3``."""


def check_names(file: str, names: Sequence[str]) -> None:
    """Raise a ValueError if two columns have the same name."""
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise ValueError(f"{file} has {count} columns named {display_name(name)}; give each a unique name.")
