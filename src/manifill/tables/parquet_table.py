"""Raw tables from Parquet files."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from manifill.tables.input_file import InputFile
from manifill.tables.raw_table import MISSING, check_names, is_numeric

__all__ = ["NEEDS_PYARROW", "ParquetTable", "open_parquet"]

NEEDS_PYARROW = "needs pyarrow; install it with pip install 'manifill[parquet]'"


@dataclass(frozen=True, eq=False)
class ParquetTable:
    """The columns of a Parquet file."""

    file: str
    typed: Any  # the DataFrame in the file, with its index as columns
    frame: Any
    index: str | None
    header: bool = True
    decimal: str = "."
    notes: tuple[str, ...] = ()

    def as_text(self, names: Sequence[str]) -> Any:
        """Return these columns as text."""
        return self.typed[list(names)].astype(str)

    def original(self) -> Any:
        """Return all columns with their types in the file."""
        return self.typed.copy()

    def location(self, record: int) -> str:
        """Return the row of an entry; rows are numbered from 1."""
        return f"row {record + 1}"


def open_parquet(file: InputFile) -> ParquetTable:
    """Return the columns of a Parquet file."""
    try:
        typed = pd.read_parquet(io.BytesIO(file.data))
    except ImportError:
        raise ValueError(f"{file.name} {NEEDS_PYARROW}.") from None
    except Exception as error:  # pyarrow's errors have no other base class
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(
            f"{file.name} is damaged or not a Parquet file ({reason}); create or download it again."
        ) from None
    typed, index = _with_index(typed)
    if typed.empty:
        raise ValueError(f"{file.name} is an empty table; give at least one observed cell.")
    check_names(file.name, list(typed.columns))
    return ParquetTable(file.name, typed, typed.apply(_numbers_or_text), index)


def _with_index(typed: Any) -> tuple[Any, str | None]:
    """Return the DataFrame with its index as columns, and the name of the index if it is one column."""
    index = None
    if not isinstance(typed.index, pd.RangeIndex):
        levels = ["" if name is None else str(name) for name in typed.index.names]
        index = levels[0] if len(levels) == 1 else None
        typed = typed.rename_axis(index=levels).reset_index()
    return typed.rename(columns=str), index


def _numbers_or_text(column: Any) -> Any:
    """Return numbers unchanged and anything else (dates, categories, lists) as text."""
    if is_numeric(column):
        return column
    text = column.astype(str)
    return text.where(column.notna() & ~text.isin(MISSING))
