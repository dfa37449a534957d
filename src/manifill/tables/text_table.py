"""Raw tables from text files."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from manifill.tables.csv_dialect import Dialect, decode, detect_dialect, dialect_notes
from manifill.tables.csv_records import check_widths, line_of
from manifill.tables.input_file import InputFile
from manifill.tables.raw_table import EXACT_FLOATS, MISSING, check_names, is_numeric

__all__ = ["TextTable", "open_text"]


@dataclass(frozen=True, eq=False)
class TextTable:
    """The columns of a text file."""

    file: str
    text: "_Text"
    positions: dict[str, int]  # field number of each column
    frame: Any
    notes: tuple[str, ...]

    @property
    def header(self) -> bool:
        """Whether the first line names the columns."""
        return self.text.dialect.header

    @property
    def index(self) -> str | None:
        """The first column if it has no name, as pandas and R write row names."""
        return "" if self.positions.get("") == 0 else None

    @property
    def decimal(self) -> str:
        """The decimal separator."""
        return self.text.dialect.decimal

    def as_text(self, names: Sequence[str]) -> Any:
        """Return these columns as the text in the file."""
        return self.text.parse([self.positions[name] for name in names], dtype=str).set_axis(list(names), axis=1)

    def original(self) -> Any:
        """Return all columns as text."""
        return self.as_text(list(self.positions))

    def location(self, record: int) -> str:
        """Return the line of a record."""
        return f"line {line_of(self.text.data, self.text.dialect.delimiter, record + self.header)}"


class _Text(NamedTuple):
    data: bytes  # UTF-8
    dialect: Dialect
    width: int  # fields per line

    def parse(self, positions: list[int], **options: Any) -> Any:
        """Return the columns with these field numbers; the numbers are their names."""
        return pd.read_csv(
            io.BytesIO(self.data),
            sep=self.dialect.delimiter,
            decimal=self.dialect.decimal,
            header=0 if self.dialect.header else None,
            names=list(range(self.width)),
            usecols=positions,
            skipinitialspace=True,
            keep_default_na=False,
            low_memory=False,  # gives each column one type, also in long files
            **EXACT_FLOATS,
            **options,
        )[positions]


def open_text(file: InputFile) -> TextTable:
    """Return the columns of a text file."""
    data, notes = decode(file)
    dialect = detect_dialect(file, data)
    first, width = check_widths(data, dialect.delimiter, file.name)
    text = _Text(data, dialect, width)
    frame = _parsed(file.name, text)
    if first < width and (not dialect.header or frame[width - 1].isna().all()):
        raise ValueError(
            f"{file.name} has {width} fields per line, but {first} in the first; give all lines the same number."
        )
    names = [name.strip() for name in dialect.first] if dialect.header else [str(k) for k in range(width)]
    if first < width:  # R omits the header of the row names
        names = ["", *names]
    # If lines end in a separator, the last column is empty and has no name.
    used = [k for k in range(width) if names[k] or not frame[k].isna().all()]
    names = [names[k] for k in used]
    check_names(file.name, names)
    positions = dict(zip(names, used, strict=True))
    return TextTable(
        file.name, text, positions, frame[used].set_axis(names, axis=1), (*notes, *dialect_notes(dialect, file))
    )


def _parsed(file: str, text: _Text) -> Any:
    """Return all columns; pandas would convert True and False to booleans, which stay text here."""
    try:
        frame = text.parse(list(range(text.width)), na_values=list(MISSING))
        booleans = [k for k in frame if not is_numeric(frame[k]) and not pd.api.types.is_string_dtype(frame[k])]
        if booleans:
            as_text = text.parse(booleans, dtype=str)
            frame[booleans] = as_text.where(~as_text.isin(MISSING))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{file} cannot be read as a table: {error}.") from None
    if frame.empty:
        raise ValueError(f"{file} has a header line and nothing below it; give at least one observed cell.")
    return frame
