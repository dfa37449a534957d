"""Text files as sheets."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from manifill.tables.dialect import Dialect, decode, describe, recognise
from manifill.tables.files import File
from manifill.tables.records import check_widths, line_of
from manifill.tables.sheet import EXACT, MISSING, check_names, is_numeric

__all__ = ["TextSheet", "open_text"]


@dataclass(frozen=True, eq=False)
class TextSheet:
    """The columns of a text file."""

    file: str
    text: "_Text"
    positions: dict[str, int]  # where in a line each column stands
    frame: Any
    said: tuple[str, ...]

    @property
    def header(self) -> bool:
        """Whether the first line names the columns."""
        return self.text.dialect.header

    @property
    def index(self) -> str | None:
        """The first column if it has no name, as pandas and R write names of rows."""
        return "" if self.positions.get("") == 0 else None

    @property
    def decimal(self) -> str:
        """What separates decimals."""
        return self.text.dialect.decimal

    def written(self, names: Sequence[str]) -> Any:
        """Return these columns as text, as the file has it."""
        return self.text.parse([self.positions[name] for name in names], dtype=str).set_axis(list(names), axis=1)

    def original(self) -> Any:
        """Return all columns as text."""
        return self.written(list(self.positions))

    def place(self, record: int) -> str:
        """Return the line of an entry."""
        return f"line {line_of(self.text.data, self.text.dialect.delimiter, record + self.header)}"


class _Text(NamedTuple):
    data: bytes  # UTF-8
    dialect: Dialect
    width: int  # fields in a line

    def parse(self, positions: list[int], **options: Any) -> Any:
        """Return the columns at these positions of the lines, under their positions."""
        return pd.read_csv(
            io.BytesIO(self.data),
            sep=self.dialect.delimiter,
            decimal=self.dialect.decimal,
            header=0 if self.dialect.header else None,
            names=list(range(self.width)),
            usecols=positions,
            skipinitialspace=True,
            keep_default_na=False,
            low_memory=False,  # a column is of one type, whatever its length
            **EXACT,
            **options,
        )[positions]


def open_text(file: File) -> TextSheet:
    """Return the columns of a text file."""
    data, said = decode(file)
    dialect = recognise(file, data)
    first, width = check_widths(data, dialect.delimiter, file.name)
    text = _Text(data, dialect, width)
    frame = _parsed(file.name, text)
    if first < width and (not dialect.header or frame[width - 1].isna().all()):
        raise ValueError(f"{file.name} has {width} fields in a line, but {first} in the first; give all as many.")
    names = [name.strip() for name in dialect.first] if dialect.header else [str(k) for k in range(width)]
    if first < width:  # R leaves out the name of the row names
        names = ["", *names]
    # Where lines end in a separator, the last column is empty and has no name.
    used = [k for k in range(width) if names[k] or not frame[k].isna().all()]
    names = [names[k] for k in used]
    check_names(file.name, names)
    positions = dict(zip(names, used, strict=True))
    return TextSheet(file.name, text, positions, frame[used].set_axis(names, axis=1), (*said, *describe(dialect, file)))


def _parsed(file: str, text: _Text) -> Any:
    """Return all columns, with True and False as the file has them: words like others."""
    try:
        frame = text.parse(list(range(text.width)), na_values=list(MISSING))
        words = [k for k in frame if not is_numeric(frame[k]) and not pd.api.types.is_string_dtype(frame[k])]
        if words:
            written = text.parse(words, dtype=str)
            frame[words] = written.where(~written.isin(MISSING))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{file} cannot be read as a table: {error}.") from None
    if frame.empty:
        raise ValueError(f"{file} has a header line and nothing below it; give at least one observed cell.")
    return frame
