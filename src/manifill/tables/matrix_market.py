"""Matrix Market files.

They are parsed here, since SciPy's reader may crash the process if a value is malformed, truncated, or longer than 21
digits, and since messages should name the line of a mistake.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Array, IntVector, Matrix, Vector
from manifill.problem import Duplicates, Observations, from_array
from manifill.tables.input_file import InputFile
from manifill.tables.message_text import quoted
from manifill.tables.size_limit import check_shape
from manifill.tables.text_file import TextFile

__all__ = ["read_matrix_market"]

LINES_PER_PIECE = 2**16
BANNER = "%%matrixmarket"
FORMS = {"coordinate": 3, "array": 1}  # and the numbers per line
FIELDS = ("real", "double", "integer", "unsigned-integer")
SYMMETRIES = ("general", "symmetric", "skew-symmetric")


class _Header(NamedTuple):
    form: str
    symmetry: str
    shape: tuple[int, int]
    cells: int  # stored in the file


def read_matrix_market(file: InputFile, duplicates: Duplicates) -> Observations:
    """Return the stored cells of a Matrix Market file; a symmetric matrix stores one half, and both are returned."""
    text = TextFile(file, "latin-1", has_quotes=False)
    header = _read_header(text)
    with file.passes.one("cells"):
        table = _read_numbers(text, FORMS[header.form])
    if len(table) != header.cells:
        raise ValueError(
            f"{file.name} contains {len(table)} of the {header.cells} cells that its header states; "
            "create or download it again."
        )
    _check_values(text, table[:, -1], may_be_missing=header.form == "array")
    if header.form == "array":
        return from_array(table.reshape(header.shape, order="F"))
    check_shape(file.name, header.shape, header.cells)
    _check_indices(text, header, table)
    rows, cols, values = table.T
    records = np.arange(len(table))
    if header.symmetry != "general":
        other = rows != cols
        sign = -1.0 if header.symmetry == "skew-symmetric" else 1.0
        rows, cols = np.append(rows, cols[other]), np.append(cols, rows[other])
        values, records = np.append(values, sign * values[other]), np.append(records, records[other])
    if duplicates == "error":
        _check_duplicates(text, header, rows, cols, records)
    return Observations.from_triples(rows - 1, cols - 1, values, header.shape, duplicates=duplicates)


def _read_header(text: TextFile) -> _Header:
    """Return what the first line and the line of sizes say."""
    banner = next(text.lines()).lower().split()
    if banner[:2] != [BANNER, "matrix"] or len(banner) != 5:
        raise ValueError(
            f"{text.name} is not a Matrix Market file: its first line is not like "
            "'%%MatrixMarket matrix coordinate real general'; correct it, or choose another extension."
        )
    form, field, symmetry = banner[2:]
    for word, known in ((form, tuple(FORMS)), (field, FIELDS), (symmetry, SYMMETRIES)):
        if word not in known:
            raise ValueError(f"line 1 of {text.name} has {quoted(word)}, but only {', '.join(known)} can be read.")
    if form == "array" and symmetry != "general":
        raise ValueError(f"{text.name} is dense and {symmetry}; write it with symmetry='general'.")
    line, content = next(_content_lines(text), (1, ""))
    words = content.split()
    if len(words) != (2 if form == "array" else 3) or not all(word.isdecimal() and len(word) < 19 for word in words):
        raise ValueError(
            f"line {line} of {text.name} should hold the numbers of rows, of columns"
            f"{'' if form == 'array' else ' and of cells'}, not {quoted(content)}."
        )
    m, n, *cells = map(int, words)
    return _Header(form, symmetry, (m, n), cells[0] if cells else m * n)


def _content_lines(text: TextFile) -> Iterator[tuple[int, str]]:
    """Yield the numbers and the contents of the lines that are neither comments nor blank."""
    for number, line in enumerate(text.lines(), 1):
        content = line.strip()
        if content and not content.startswith("%"):
            yield number, content


def _read_numbers(text: TextFile, width: int) -> Matrix:
    """Return the numbers in all lines below the sizes, (lines, width)."""
    lines = islice(_content_lines(text), 1, None)
    pieces = [np.empty((0, width))]
    while piece := list(islice(lines, LINES_PER_PIECE)):
        pieces.append(_parsed(text, piece, width))
    return np.concatenate(pieces)


def _parsed(text: TextFile, lines: list[tuple[int, str]], width: int) -> Matrix:
    try:
        found: Matrix = np.loadtxt([content for _, content in lines], comments=None, ndmin=2)
        if found.shape[1] == width:
            return found
    except ValueError:
        pass
    number, content = next(line for line in lines if not _are_numbers(line[1], width))
    raise ValueError(
        f"line {number} of {text.name} should hold {'one number' if width == 1 else f'{width} numbers'}, "
        f"not {quoted(content)}; correct it, or create or download the file again."
    )


def _are_numbers(content: str, width: int) -> bool:
    words = content.split()
    try:
        return len(words) == width and all(np.loadtxt([word], comments=None, ndmin=1).size == 1 for word in words)
    except ValueError:
        return False


def _line_of(text: TextFile, record: int) -> int:
    """Return the number of the line of a cell; cells are numbered from 0 here."""
    number, _ = next(islice(_content_lines(text), record + 1, None))
    return number


def _check_indices(text: TextFile, header: _Header, table: Matrix) -> None:
    """Raise a ValueError for the first cell that is outside of the matrix."""
    for noun, size, indices in zip(("row", "column"), header.shape, table.T, strict=False):
        invalid = ~((indices >= 1) & (indices <= size) & (indices == np.rint(indices)))
        if invalid.any():
            record = int(np.argmax(invalid))
            raise ValueError(
                f"line {_line_of(text, record)} of {text.name} has the {noun} {indices[record]:g}, but the "
                f"matrix has the {noun}s 1 to {size}; correct it, or the sizes in the header."
            )


def _check_values(text: TextFile, values: Vector, *, may_be_missing: bool) -> None:
    """Raise a ValueError for the first value that is infinite, or NaN unless that is a missing cell."""
    invalid = np.isinf(values) if may_be_missing else ~np.isfinite(values)
    if invalid.any():
        record = int(np.argmax(invalid))
        raise ValueError(
            f"line {_line_of(text, record)} of {text.name} has the value {values[record]}; "
            "leave unobserved cells out, or give finite numbers."
        )
    if np.isnan(values).all():
        raise ValueError(f"{text.name} contains no numbers; give at least one observed cell.")


def _check_duplicates(text: TextFile, header: _Header, rows: Array, cols: Array, records: IntVector) -> None:
    """Raise a ValueError if a cell is stored twice, also if one of them is in the other half of a symmetric matrix."""
    cells = (rows * header.shape[1] + cols).astype(np.int64)
    order = np.argsort(cells, kind="stable")
    again = np.flatnonzero(np.diff(cells[order]) == 0)
    if again.size:
        cell, other = order[again[0]], order[again[0] + 1]
        first, second = (_line_of(text, int(records[k])) for k in (cell, other))
        raise ValueError(
            Wording(
                f"line {first} and line {second} of {text.name} both contain the cell (row {rows[cell]:.0f}, column "
                f"{cols[cell]:.0f}); remove one, or pass ",
                Argument("duplicates", "average"),
                " to average them.",
            )
        )
