"""Splits a text file into records of fields, and checks their number."""

import csv
from collections.abc import Iterator
from typing import NamedTuple

from manifill.tables.text_file import TextFile

__all__ = ["Widths", "check_widths", "line_of", "records"]

BAD_QUOTES = "has a quotation mark that is not closed, or is inside a quoted field; correct it"


def records(text: TextFile, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the (last) line and the fields of each record, skipping blank lines.

    Quotation marks that are not valid, and quoted fields that are too long for the csv module, raise a ValueError with
    the number of the line.
    """
    if not text.has_quotes:  # splitting is enough, and fields may be of any length
        for line, content in enumerate(text.lines(), 1):
            if content.strip(_blank(delimiter)):
                yield line, [field.lstrip(" ") for field in content.rstrip("\r\n").split(delimiter)]
        return
    reader = csv.reader(text.lines(), delimiter=delimiter, skipinitialspace=True, strict=True)
    last = 0  # the last line of the record before
    try:
        for fields in reader:
            if len(fields) > 1 or "".join(fields).strip():
                yield reader.line_num, fields
            last = reader.line_num
    except csv.Error as error:
        raise ValueError(_csv_error(text.name, error, last + 1, reader.line_num)) from None


def _csv_error(file: str, error: csv.Error, first: int, last: int) -> str:
    """Return a message for a record in the lines ``first`` to ``last`` that cannot be split into fields."""
    if "field limit" not in str(error):
        return f"line {first} of {file} {BAD_QUOTES}."
    longest = csv.field_size_limit()
    if last > first:
        return (
            f"line {first} of {file} has a quotation mark that is not closed within {longest} characters; "
            "close it, or shorten the field."
        )
    return f"line {first} of {file} has a field of more than {longest} characters; shorten it."


def line_of(text: TextFile, delimiter: str, record: int) -> int:
    """Return the line number of a record; records are numbered from 0."""
    return next(line for k, (line, _) in enumerate(records(text, delimiter)) if k == record)


class Widths(NamedTuple):
    """The numbers of fields in a file."""

    first: int  # of the first record
    others: int  # of all others, which may be one more
    records: int  # the number of records


def check_widths(text: TextFile, delimiter: str) -> Widths:
    """Return the number of fields of the first record and of all others, which may have one more.

    Lines with fewer fields raise a ValueError; pandas would fill them with missing entries.
    """
    widths = _widths(text, delimiter)
    first_line, first = next(widths)
    second_line, others = next(widths, (first_line, first))
    count = 1 + (second_line != first_line)
    for line, width in widths:
        count += 1
        if width != others:
            raise ValueError(_ragged(text.name, line, width, second_line, others))
    if others not in (first, first + 1):
        raise ValueError(_ragged(text.name, second_line, others, first_line, first))
    return Widths(first, others, count)


def _ragged(file: str, line: int, width: int, other_line: int, other: int) -> str:
    return (
        f"line {line} of {file} has {width} fields, but line {other_line} has {other}; "
        "give all lines the same number of fields."
    )


def _widths(text: TextFile, delimiter: str) -> Iterator[tuple[int, int]]:
    """Yield the line number and the number of fields of every record."""
    if text.has_quotes:
        yield from ((line, len(fields)) for line, fields in records(text, delimiter))
        return
    blank = _blank(delimiter)
    for line, content in enumerate(text.lines(), 1):  # counting separators is much faster than splitting
        if content.strip(blank):
            yield line, content.count(delimiter) + 1


def _blank(delimiter: str) -> str:
    """Return the characters of a line that is skipped."""
    return " \t\r\n".replace(delimiter, "")
