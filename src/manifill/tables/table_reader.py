"""Reads a table or matrix from a file of any supported format."""

import difflib
import os

from manifill.problem import Duplicates
from manifill.tables.column_parsing import column_kinds
from manifill.tables.column_roles import Roles, guess_roles
from manifill.tables.input_file import MATRIX_EXTENSIONS, TABLE_EXTENSIONS, InputFile, read_input_file
from manifill.tables.long_table import read_long
from manifill.tables.matrix_files import read_matrix
from manifill.tables.message_text import listed
from manifill.tables.parquet_table import open_parquet
from manifill.tables.raw_table import RawTable
from manifill.tables.table_layout import Table
from manifill.tables.text_table import open_text
from manifill.tables.wide_table import read_wide

__all__ = ["open_table", "read_table"]


def read_table(
    path: str | os.PathLike[str],
    *,
    wide: bool | None = None,
    row: str | None = None,
    col: str | None = None,
    value: str | None = None,
    id_column: str | None = None,
    duplicates: Duplicates = "error",
) -> Table:
    """Return the observed cells in a file, and how the file was interpreted.

    Parameters
    ----------
    path
        A table (.csv, .tsv, .txt or .parquet), a Matrix Market file (.mtx) whose stored cells are the observed ones,
        or an .npz file with a matrix of ``scipy.sparse.save_npz``, with arrays rows, cols and values (and shape), or
        with one 2-D array that has NaN for missing cells.  Text and .mtx files may be compressed (.gz).
    wide
        Whether a table is wide (one line per row of the matrix) or long (one line per cell); inferred by default.
    row, col, value
        The columns of a long table; those that are not given are inferred.
    id_column
        The column of row labels of a wide table.  By default the first whose entries are distinct and are text, or
        integers in a column with a name such as id; without one, rows are numbered from 0.
    duplicates
        What to do if a cell occurs twice in a long table or a sparse matrix: ``"error"`` or ``"average"``.

    Notes
    -----
    Empty fields, NA, N/A, NaN, null, None and ? are missing.  Labels are integers if all labels in their column are,
    otherwise text as in the file; one leading zero (007) makes the whole column text, and dates are text.  The columns
    of a file without a header are named 0, 1, ….  A first line that contains only numbers is not a header, unless it is
    0, 1, … or its first field is empty.
    """
    given = Roles(row, col, value)
    _check_arguments(given, wide, id_column, duplicates)
    file = read_input_file(path, (*TABLE_EXTENSIONS, *MATRIX_EXTENSIONS))
    if file.extension in MATRIX_EXTENSIONS:
        _check_matrix_arguments(file, given, wide, id_column)
        return read_matrix(file, duplicates)
    raw = open_table(file)
    for name in (*given, id_column):
        if name is not None:
            _check_name(raw, name)
    kinds = column_kinds(raw)
    is_long = wide is False or any(name is not None for name in given)
    if not is_long and wide is None and id_column is None:
        is_long = guess_roles(raw, kinds) is not None
    if is_long:
        return read_long(raw, kinds, given, duplicates)
    return read_wide(raw, kinds, id_column)


def open_table(file: InputFile) -> RawTable:
    """Return the columns of a table before interpretation."""
    return open_parquet(file) if file.extension == ".parquet" else open_text(file)


def _check_arguments(given: Roles, wide: bool | None, id_column: str | None, duplicates: Duplicates) -> None:
    if duplicates not in ("error", "average"):
        raise ValueError(f"duplicates must be 'error' or 'average', not {duplicates!r}.")
    names = [name for name in (*given, id_column) if name is not None]
    for_long = wide is False or any(name is not None for name in given)
    if for_long and (wide is True or id_column is not None):
        raise ValueError(
            "row, col and value are for a long table, and id_column for a wide one; leave out what does not apply."
        )
    if len(set(names)) < len(names):
        raise ValueError(f"row, col and value must be three different columns, not {listed(names)}.")


def _check_matrix_arguments(file: InputFile, given: Roles, wide: bool | None, id_column: str | None) -> None:
    arguments = {"wide": wide, **given._asdict(), "id_column": id_column}
    unwanted = [name for name, value in arguments.items() if value is not None]
    if unwanted:
        raise ValueError(f"{unwanted[0]} does not apply to {file.name}, a matrix without names; leave it out.")


def _check_name(raw: RawTable, name: str) -> None:
    if name not in raw.frame:
        names = list(raw.frame)
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(f"{raw.file} has no column {name!r}{hint}; its columns are {listed(names)}.")
