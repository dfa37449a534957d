"""Raw tables from Parquet files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from manifill.tables.input_file import InputFile
from manifill.tables.message_text import reason
from manifill.tables.missing_codes import MissingCodes
from manifill.tables.raw_column import RawColumn, TextSummary, number_column
from manifill.tables.raw_table import check_names
from manifill.tables.size_limit import TooLargeError

__all__ = ["NEEDS_PYARROW", "ParquetTable", "open_parquet"]

NEEDS_PYARROW = "needs pyarrow; install it with pip install 'manifill[parquet]'"
RECORDS_PER_PIECE = 2**14
RECORDS_TO_CONVERT = 2**21  # of a column at a time; more pieces mean more distinct texts in all


@dataclass(frozen=True, eq=False)
class ParquetTable:
    """The columns of a Parquet file."""

    source: InputFile
    typed: Any  # the DataFrame in the file, with its index as columns
    columns: dict[str, RawColumn]
    index: str | None
    missing: MissingCodes
    header: bool = True
    decimal: str = "."
    notes: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.source.name

    @property
    def records(self) -> int:
        """The number of rows."""
        return len(self.typed)

    def text_pieces(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield these columns as text."""
        with self.source.passes.one("labels"):
            for start in range(0, len(self.typed), RECORDS_PER_PIECE):
                yield self.typed[list(names)].iloc[start : start + RECORDS_PER_PIECE].astype(str)
                self.source.passes.at((start + RECORDS_PER_PIECE) / len(self.typed))

    def as_label(self, text: str) -> str:
        """Return the text itself."""
        return text

    def original(self) -> Any:
        """Return all columns with their types in the file."""
        return self.typed.copy()

    def end_reading(self) -> None:
        """Note that the text is not needed again."""
        self.source.passes.end()

    def location(self, record: int) -> str:
        """Return the row of an entry; rows are numbered from 1."""
        return f"row {record + 1}"


def open_parquet(file: InputFile, missing: MissingCodes) -> ParquetTable:
    """Return the columns of a Parquet file."""
    with _damage_as_value_error(file):
        typed, index = _with_index(_read(file))
    if typed.empty:
        raise ValueError(f"{file.name} is an empty table; give at least one observed cell.")
    check_names(file.name, list(typed.columns))
    with file.passes.one("columns"):
        parts = _parts(typed.shape[1])
        columns = {name: _column(file, typed[name], missing, part) for name, part in zip(typed, parts, strict=True)}
    return ParquetTable(file, typed, columns, index, missing)


@contextmanager
def _damage_as_value_error(file: InputFile) -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise ValueError(f"{file.name} {NEEDS_PYARROW}.") from None
    except (TooLargeError, MemoryError):
        raise
    except Exception as error:  # pyarrow's errors have no other base class
        raise ValueError(
            f"{file.name} is damaged or not a Parquet file ({reason(error)}); create or download it again."
        ) from None


def _read(file: InputFile) -> Any:
    """Return the DataFrame in the file; it is read in pieces, and not further than the limit on its size."""
    import pyarrow
    from pyarrow import parquet

    # The count is of records: pyarrow reads ahead, in other threads.
    with file.open_on_disk() as stream, parquet.ParquetFile(stream) as source, file.passes.one("records"):
        pieces, size, records = [], 0, 0
        for piece in source.iter_batches(RECORDS_PER_PIECE):
            size += piece.nbytes
            records += piece.num_rows
            file.limit.check(size)
            file.passes.at(records / max(source.metadata.num_rows, 1))
            pieces.append(piece)
        table = pyarrow.Table.from_batches(pieces, source.schema_arrow)
    table.validate(full=True)  # text that is not UTF-8 would raise an error wherever it is looked at first
    return table.to_pandas()


def _with_index(typed: Any) -> tuple[Any, str | None]:
    """Return the DataFrame with its index as columns, and the name of the index if it is one column."""
    index = None
    if not isinstance(typed.index, pd.RangeIndex):
        levels = ["" if name is None else str(name) for name in typed.index.names]
        index = levels[0] if len(levels) == 1 else None
        typed = typed.rename_axis(index=levels).reset_index()
    return typed.rename(columns=str), index


class _Part(NamedTuple):
    """The part of a pass that converts one column."""

    begin: float
    length: float


def _parts(columns: int) -> list[_Part]:
    return [_Part(k / columns, 1.0 / columns) for k in range(columns)]


def _column(file: InputFile, typed: Any, missing: MissingCodes, part: _Part) -> RawColumn:
    """Return a column of numbers, or of text if it is anything else (dates, categories, lists)."""
    if pd.api.types.is_numeric_dtype(typed) and not pd.api.types.is_bool_dtype(typed):
        exact = typed.dtype.kind in "iu" and not typed.isna().any()
        values = typed.to_numpy() if exact else typed.to_numpy(dtype=np.float64, na_value=np.nan)
        file.passes.at(part.begin + part.length)
        return number_column(missing.removed_from(values))
    summary = TextSummary(".")
    for start in range(0, len(typed), RECORDS_TO_CONVERT):
        piece = typed.iloc[start : start + RECORDS_TO_CONVERT]
        with _damage_as_value_error(file):
            text = piece.astype(str)
        summary.add(text.where(piece.notna() & ~missing.among_texts(text)))
        file.passes.at(part.begin + part.length * (start + len(piece)) / len(typed))
    return summary.column()
