"""Raw tables from text files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from manifill.base.arrays import Array
from manifill.tables.column_names import is_index_name
from manifill.tables.csv_dialect import Dialect, detect_dialect, dialect_notes
from manifill.tables.csv_records import Widths, check_widths, line_of
from manifill.tables.formula_guard import without_guard
from manifill.tables.input_file import InputFile
from manifill.tables.missing_codes import MissingCodes
from manifill.tables.raw_column import RawColumn, TextSummary, number_column
from manifill.tables.raw_table import EXACT_FLOATS, check_names
from manifill.tables.size_limit import check_memory
from manifill.tables.text_file import TextFile, open_text_file

__all__ = ["TextTable", "open_text"]

# Per piece.  Pandas needs some 20 µs for each column of a piece, so fewer records are slow unless they are long.
MOST_FIELDS, FEWEST_RECORDS, MOST_RECORDS = 2**20, 2**8, 2**16
MOST_BYTES, BYTES_PER_FIELD = 2**22, 2**4


@dataclass(frozen=True, eq=False)
class TextTable:
    """The columns of a text file."""

    text: "_Text"
    positions: dict[str, int]  # field number of each column
    columns: dict[str, RawColumn]
    missing: MissingCodes
    notes: tuple[str, ...]

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.text.file.name

    @property
    def records(self) -> int:
        """The number of lines below the header."""
        return len(next(iter(self.columns.values())).keys)

    @property
    def header(self) -> bool:
        """Whether the first line names the columns."""
        return self.text.dialect.header

    @property
    def index(self) -> str | None:
        """The first column if it has no name, as pandas and R write row names."""
        first = next(iter(self.positions))
        return first if is_index_name(first) and self.positions[first] == 0 else None

    @property
    def decimal(self) -> str:
        """The decimal separator."""
        return self.text.dialect.decimal

    def text_pieces(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield DataFrames of consecutive records of these columns, as the text in the file."""
        for piece in self.text.pieces("text", [self.positions[name] for name in names], dtype=str):
            yield piece.set_axis(list(names), axis=1)

    def as_label(self, text: str) -> str:
        """Return the label, without the apostrophe that ``write_table`` puts before formulas."""
        return without_guard(text)

    def original(self) -> Any:
        """Return all columns as text."""
        return pd.concat(self.text_pieces(list(self.positions)), ignore_index=True)

    def end_reading(self) -> None:
        """Note that the text is not needed again."""
        self.text.file.file.passes.end()

    def location(self, record: int) -> str:
        """Return the line of a record."""
        return f"line {line_of(self.text.file, self.text.dialect.delimiter, record + self.header)}"


class _Text(NamedTuple):
    file: TextFile
    dialect: Dialect
    width: int  # fields per line
    records: int

    def _records_per_piece(self) -> int:
        by_fields = min(max(MOST_FIELDS // self.width, FEWEST_RECORDS), MOST_RECORDS)
        size = max(MOST_BYTES, BYTES_PER_FIELD * FEWEST_RECORDS * self.width)
        return max(min(by_fields, size * self.records // max(self.file.size, 1)), 1)

    def pieces(self, doing: str, positions: list[int], **options: Any) -> Iterator[Any]:
        """Yield consecutive records of the columns with these field numbers; the numbers are their names.

        ``doing`` says what the pass over the file is for.
        """
        try:
            with (
                self.file.file.passes.one(doing),
                self.file.open() as stream,
                pd.read_csv(
                    stream,
                    sep=self.dialect.delimiter,
                    decimal=self.dialect.decimal,
                    header=0 if self.dialect.header else None,
                    names=list(range(self.width)),
                    usecols=positions,
                    skipinitialspace=True,
                    keep_default_na=False,
                    low_memory=False,  # gives each column of a piece one type
                    chunksize=self._records_per_piece(),
                    **EXACT_FLOATS,
                    **options,
                ) as reader,
            ):
                for piece in reader:
                    yield piece[positions]
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{self.file.name} cannot be read as a table: {str(error).rstrip('.')}.") from None


def open_text(file: InputFile, missing: MissingCodes) -> TextTable:
    """Return the columns of a text file."""
    opened, notes = open_text_file(file)
    dialect = detect_dialect(opened)
    with file.passes.one("lines"):
        widths = check_widths(opened, dialect.delimiter)
    if widths.records == dialect.header:
        raise ValueError(f"{file.name} has a header line and nothing below it; give at least one observed cell.")
    fields = widths.records * widths.others
    check_memory(file.name, f"{fields} fields", fields * np.dtype(np.float64).itemsize)
    text = _Text(opened, dialect, widths.others, widths.records)
    columns = _read_columns(text, missing)
    if len(columns[0].keys) != widths.records - dialect.header:  # which would make the numbers of lines wrong
        raise ValueError(f"{file.name} has a line of nothing but quotation marks and blanks; remove it.")
    names = _names(text, widths, columns)
    # If lines end in a separator, the last column is empty and has no name.
    used = [k for k in range(text.width) if names[k] or not columns[k].missing.all()]
    check_names(file.name, [names[k] for k in used])
    positions = {names[k]: k for k in used}
    found = {name: columns[k] for name, k in positions.items()}
    return TextTable(text, positions, found, missing, (*notes, *dialect_notes(dialect, opened)))


def _names(text: _Text, widths: Widths, columns: dict[int, RawColumn]) -> list[str]:
    header, first, width = text.dialect.header, widths.first, widths.others
    if first < width and (not header or columns[width - 1].missing.all()):
        raise ValueError(
            f"{text.file.name} has {width} fields per line, but {first} in the first; give all lines the same number."
        )
    names = [without_guard(name.strip()) for name in text.dialect.first] if header else list(map(str, range(width)))
    return ["", *names] if first < width else names  # R omits the header of the row names


def _read_columns(text: _Text, missing: MissingCodes) -> dict[int, RawColumn]:
    """Return all columns: numbers if all pieces are, otherwise text; pandas' booleans are text too."""
    numbers: dict[int, list[Array]] = {k: [] for k in range(text.width)}
    texts: dict[int, TextSummary] = {}
    again = set()
    for piece in text.pieces("columns", list(numbers), na_values=list(missing.texts)):
        for k, column in piece.items():
            if pd.api.types.is_string_dtype(column):
                texts.setdefault(k, TextSummary(text.dialect.decimal)).add(column)
                if numbers[k]:
                    again.add(k)
            elif pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column):
                again.add(k)
            else:
                numbers[k].append(column.to_numpy())
                if k in texts:
                    again.add(k)
    summaries = {**texts, **_read_as_text(text, sorted(again), missing)}
    return {
        k: summaries[k].column()
        if k in summaries
        else number_column(missing.removed_from(np.concatenate(numbers.pop(k))))
        for k in range(text.width)
    }


def _read_as_text(text: _Text, positions: list[int], missing: MissingCodes) -> dict[int, TextSummary]:
    """Return columns that are numbers in some pieces and text in others."""
    summaries = {k: TextSummary(text.dialect.decimal) for k in positions}
    for piece in text.pieces("columns as text", positions, dtype=str) if positions else ():
        for k, column in piece.items():
            summaries[k].add(column.where(~missing.among_texts(column)))
    return summaries
