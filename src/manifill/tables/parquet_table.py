"""Raw tables from Parquet files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, eq=False)
class ParquetTable:
    """The columns of a Parquet file."""

    file: str
    typed: Any  # the DataFrame in the file, with its index as columns
    columns: dict[str, RawColumn]
    index: str | None
    missing: MissingCodes
    header: bool = True
    decimal: str = "."
    notes: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        """The number of rows."""
        return len(self.typed)

    def text_pieces(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield these columns as text."""
        for start in range(0, len(self.typed), RECORDS_PER_PIECE):
            yield self.typed[list(names)].iloc[start : start + RECORDS_PER_PIECE].astype(str)

    def as_label(self, text: str) -> str:
        """Return the text itself."""
        return text

    def original(self) -> Any:
        """Return all columns with their types in the file."""
        return self.typed.copy()

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
    columns = {name: _column(file, typed[name], missing) for name in typed}
    return ParquetTable(file.name, typed, columns, index, missing)


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

    with file.open() as stream, parquet.ParquetFile(stream) as source:
        pieces, size = [], 0
        for piece in source.iter_batches(RECORDS_PER_PIECE):
            size += piece.nbytes
            file.limit.check(size)
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


def _column(file: InputFile, typed: Any, missing: MissingCodes) -> RawColumn:
    """Return a column of numbers, or of text if it is anything else (dates, categories, lists)."""
    if pd.api.types.is_numeric_dtype(typed) and not pd.api.types.is_bool_dtype(typed):
        exact = typed.dtype.kind in "iu" and not typed.isna().any()
        values = typed.to_numpy() if exact else typed.to_numpy(dtype=np.float64, na_value=np.nan)
        return number_column(missing.removed_from(values))
    summary = TextSummary(".")
    with _damage_as_value_error(file):
        text = typed.astype(str)
    summary.add(text.where(typed.notna() & ~missing.among_texts(text)))
    return summary.column()
