"""Reads a table or matrix from a file of any supported format."""

import difflib
import os
from collections.abc import Sequence
from dataclasses import replace

from manifill.base import progress
from manifill.base.argument_words import Argument, Wording, joined
from manifill.problem import Duplicates
from manifill.tables.column_roles import Roles, guess_roles
from manifill.tables.input_file import MATRIX_EXTENSIONS, TABLE_EXTENSIONS, InputFile, find_input_file
from manifill.tables.long_table import read_long
from manifill.tables.matrix_files import read_matrix
from manifill.tables.message_text import listed, quoted
from manifill.tables.missing_codes import MissingCodes
from manifill.tables.parquet_table import open_parquet
from manifill.tables.raw_table import RawTable
from manifill.tables.size_limit import TooLargeError
from manifill.tables.suspected_codes import suspicion_notes
from manifill.tables.table_layout import Table
from manifill.tables.text_table import open_text
from manifill.tables.wide_table import read_wide

__all__ = ["open_table", "read_table"]

# Passes over a file by its extension, of text those for its encoding, its lines, its columns and its labels; more if an
# unusual layout needs them.
PASSES = {".parquet": 3, ".mtx": 1, ".npz": 1}
PASSES_OF_TEXT = 4
SECONDS_PER_SUSPICION = 1e-7  # per cell

LONG_ARGUMENTS = joined([Argument("row"), Argument("col"), Argument("value")])


def read_table(
    path: str | os.PathLike[str],
    *,
    wide: bool | None = None,
    row: str | None = None,
    col: str | None = None,
    value: str | None = None,
    id_column: str | None = None,
    duplicates: Duplicates = "error",
    missing: Sequence[str | float] = (),
    max_bytes: int | None = None,
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
    missing
        Codes that mean missing, besides those below, for example ``[-999, "-"]``.  A number stands for all ways to
        write it: -999 is -999.0 too.
    max_bytes
        How many bytes a compressed file (.gz, .parquet, .npz) may unpack to; by default 8 GiB, and if that is more than
        256 MiB, 100 times its size on disk.

    Notes
    -----
    Empty fields, NA, N/A, NaN, null, None and ? are missing.  Labels are integers if all labels in their column are,
    otherwise text as in the file; one leading zero (007) makes the whole column text, and dates are text.  The columns
    of a file without a header are named 0, 1, ….  A first line that contains only numbers is not a header, unless it is
    0, 1, … or its first field is empty.  An apostrophe before =, +, -, @, a tab or a carriage return, which
    ``write_table`` puts there, is not part of a label.

    Text is read in pieces: memory is needed for the cells, not for the text.
    """
    given = Roles(row, col, value)
    _check_arguments(given, wide, id_column, duplicates)
    codes = MissingCodes.with_codes(missing)
    file = find_input_file(path, (*TABLE_EXTENSIONS, *MATRIX_EXTENSIONS), max_bytes)
    try:
        if file.extension in MATRIX_EXTENSIONS:
            _check_matrix_arguments(file, given, wide, id_column)
            _begin_reading(file)
            table = _without_codes(read_matrix(file, duplicates), codes, file)
        else:
            table = _read(open_table(file, codes), wide, given, id_column, duplicates)
    except MemoryError:
        raise TooLargeError(f"{file.name} does not fit into memory; give a part of it.") from None
    layout = replace(table.layout, missing=codes.given)
    progress.begin("looking for codes of missing values", guess=table.observations.size * SECONDS_PER_SUSPICION)
    return Table(table.observations, layout, (*table.notes, *suspicion_notes(table.observations)))


def _read(raw: RawTable, wide: bool | None, given: Roles, id_column: str | None, duplicates: Duplicates) -> Table:
    for name in (*given, id_column):
        if name is not None:
            _check_name(raw, name)
    is_long = wide is False or any(name is not None for name in given)
    if not is_long and wide is None and id_column is None:
        is_long = guess_roles(raw) is not None
    return read_long(raw, given, duplicates) if is_long else read_wide(raw, id_column)


def _without_codes(table: Table, codes: MissingCodes, file: InputFile) -> Table:
    """Return the cells of a matrix that are not codes for missing."""
    found = codes.among_numbers(table.observations.by_row.values)
    if found is None:
        return table
    if found.all():
        raise ValueError(f"{file.name} contains nothing but codes for missing; give at least one observed cell.")
    return table._replace(observations=table.observations.subset(~found))


def open_table(file: InputFile, missing: MissingCodes) -> RawTable:
    """Return the columns of a table before interpretation, the beginning of the phase of reading."""
    _begin_reading(file)
    return open_parquet(file, missing) if file.extension == ".parquet" else open_text(file, missing)


def _begin_reading(file: InputFile) -> None:
    file.passes.begin(f"reading {file.path.name}", PASSES.get(file.extension, PASSES_OF_TEXT))


def _check_arguments(given: Roles, wide: bool | None, id_column: str | None, duplicates: Duplicates) -> None:
    if duplicates not in ("error", "average"):
        raise ValueError(f"duplicates must be 'error' or 'average', not {duplicates!r}.")
    names = [name for name in (*given, id_column) if name is not None]
    for_long = wide is False or any(name is not None for name in given)
    if for_long and (wide is True or id_column is not None):
        raise ValueError(
            Wording(
                *LONG_ARGUMENTS,
                " are for a long table, and ",
                Argument("id_column"),
                " for a wide one; leave out what does not apply.",
            )
        )
    if len(set(names)) < len(names):
        raise ValueError(Wording(*LONG_ARGUMENTS, f" must be three different columns, not {listed(names)}."))


def _check_matrix_arguments(file: InputFile, given: Roles, wide: bool | None, id_column: str | None) -> None:
    arguments = {"row": given.row, "col": given.col, "value": given.value, "id_column": id_column}
    unwanted = [Argument(name) for name, value in arguments.items() if value is not None]
    if wide is not None:
        unwanted.insert(0, Argument("wide", wide))
    if unwanted:
        raise ValueError(Wording(unwanted[0], f" does not apply to {file.name}, a matrix without names; leave it out."))


def _check_name(raw: RawTable, name: str) -> None:
    if name not in raw.columns:
        names = list(raw.columns)
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" (did you mean {quoted(close[0])}?)" if close else ""
        raise ValueError(f"{raw.file} has no column {quoted(name)}{hint}; its columns are {listed(names)}.")
