"""Splits a text file into records of fields, and checks their number."""

import csv
import io
from collections.abc import Iterator

__all__ = ["BAD_QUOTES", "check_widths", "line_of", "records"]

BAD_QUOTES = "has a quotation mark that is not closed, or is inside a quoted field; correct it"


def records(data: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the (last) line and the fields of each record of UTF-8 text, skipping blank lines."""
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    for fields in reader:
        if len(fields) > 1 or "".join(fields).strip():
            yield reader.line_num, fields


def line_of(data: bytes, delimiter: str, record: int) -> int:
    """Return the line number of a record; records are numbered from 0."""
    return next(line for k, (line, _) in enumerate(records(data, delimiter)) if k == record)


def check_widths(data: bytes, delimiter: str, file: str) -> tuple[int, int]:
    """Return the number of fields of the first record and of all others, which may have one more.

    Lines with fewer fields raise a ValueError; pandas would fill them with missing entries.
    """
    widths = _widths(data, delimiter)
    try:
        first_line, first = next(widths)
        second_line, others = next(widths, (first_line, first))
        for line, width in widths:
            if width != others:
                raise ValueError(_ragged(file, line, width, second_line, others))
    except csv.Error:
        raise ValueError(f"{file} {BAD_QUOTES}.") from None
    if others not in (first, first + 1):
        raise ValueError(_ragged(file, second_line, others, first_line, first))
    return first, others


def _ragged(file: str, line: int, width: int, other_line: int, other: int) -> str:
    return (
        f"line {line} of {file} has {width} fields, but line {other_line} has {other}; "
        "give all lines the same number of fields."
    )


def _widths(data: bytes, delimiter: str) -> Iterator[tuple[int, int]]:
    """Yield the line number and the number of fields of every record."""
    if b'"' in data:
        yield from ((line, len(fields)) for line, fields in records(data, delimiter))
        return
    separator = delimiter.encode()  # without quotes, counting separators is enough and much faster
    blank = b" \t".replace(separator, b"")
    for line, text in enumerate(data.splitlines(), 1):
        if text.strip(blank):
            yield line, text.count(separator) + 1
