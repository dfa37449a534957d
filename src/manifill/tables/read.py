"""One call that reads whatever file holds a matrix."""

import difflib
import os

from manifill.problem import Duplicates
from manifill.tables.arrays import read_matrix
from manifill.tables.columns import kinds_of
from manifill.tables.files import FRAMES, MATRICES, File, open_file
from manifill.tables.guess import Roles, guess_roles
from manifill.tables.layout import Table
from manifill.tables.long import read_long
from manifill.tables.parquet import open_parquet
from manifill.tables.sheet import Sheet
from manifill.tables.text import open_text
from manifill.tables.wide import read_wide
from manifill.tables.words import listed

__all__ = ["open_sheet", "read_table"]


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
    """Return the observed cells in a file, and what was made of it.

    Parameters
    ----------
    path
        A table (.csv, .tsv, .txt or .parquet), a Matrix Market file (.mtx) whose stored cells are the observed ones,
        or an .npz file: of ``scipy.sparse.save_npz``, of arrays rows, cols and values (and shape), or of one 2-D array
        with NaN for missing.  Text and .mtx also with .gz.
    wide
        Whether a table is wide (a line is a row of the matrix) or long (a line is a cell); guessed by default.
    row, col, value
        The columns of a long table; those that are not given are guessed.
    id_column
        The column that names the rows of a wide table.  By default the first whose entries are all distinct and are
        text, or are whole numbers under a name such as id; without any, rows are numbered from 0.
    duplicates
        What to do with a cell that a long table or a sparse matrix gives twice: ``"error"`` or ``"average"``.

    Notes
    -----
    Empty fields, NA, N/A, NaN, null, None and ? are missing.  Labels are whole numbers if all in their column are,
    else text as the file has it; a leading zero (007) makes the whole column text, and dates are text.  The columns of
    a file without a header are called 0, 1, …; a first line that holds nothing but numbers is no header, unless it
    counts 0, 1, … or follows an empty corner.
    """
    given = Roles(row, col, value)
    _check_arguments(given, wide, id_column, duplicates)
    file = open_file(path, (*FRAMES, *MATRICES))
    if file.kind in MATRICES:
        _check_unnamed(file, given, wide, id_column)
        return read_matrix(file, duplicates)
    sheet = open_sheet(file)
    for name in (*given, id_column):
        if name is not None:
            _check_name(sheet, name)
    kinds = kinds_of(sheet)
    is_long = wide is False or any(name is not None for name in given)
    if not is_long and wide is None and id_column is None:
        is_long = guess_roles(sheet, kinds) is not None
    if is_long:
        return read_long(sheet, kinds, given, duplicates)
    return read_wide(sheet, kinds, id_column)


def open_sheet(file: File) -> Sheet:
    """Return the columns of a table."""
    return open_parquet(file) if file.kind == ".parquet" else open_text(file)


def _check_arguments(given: Roles, wide: bool | None, id_column: str | None, duplicates: Duplicates) -> None:
    if duplicates not in ("error", "average"):
        raise ValueError(f"duplicates must be 'error' or 'average', not {duplicates!r}.")
    names = [name for name in (*given, id_column) if name is not None]
    for_long = wide is False or any(name is not None for name in given)
    if for_long and (wide is True or id_column is not None):
        raise ValueError(
            "row, col and value go with a long table, and id_column with a wide one; leave out what does not apply."
        )
    if len(set(names)) < len(names):
        raise ValueError(f"row, col and value must be three columns, not {listed(names)}.")


def _check_unnamed(file: File, given: Roles, wide: bool | None, id_column: str | None) -> None:
    arguments = {"wide": wide, **given._asdict(), "id_column": id_column}
    unwanted = [name for name, value in arguments.items() if value is not None]
    if unwanted:
        raise ValueError(f"{unwanted[0]} has no meaning for {file.name}, a matrix without names; leave it out.")


def _check_name(sheet: Sheet, name: str) -> None:
    if name not in sheet.frame:
        names = list(sheet.frame)
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(f"{sheet.file} has no column {name!r}{hint}; its columns are {listed(names)}.")
