"""Detects the format of a text file: field and decimal separators, and whether it has a header."""

import re
from itertools import islice, pairwise
from typing import NamedTuple

from manifill.tables.csv_records import records
from manifill.tables.message_text import listed, quoted
from manifill.tables.missing_codes import MISSING
from manifill.tables.raw_column import SWAP_POINT_AND_COMMA
from manifill.tables.text_file import TextFile

__all__ = [
    "CANONICAL_INTEGER",
    "Dialect",
    "detect_dialect",
    "dialect_notes",
    "is_number",
]

SAMPLE_RECORDS = 20  # number of records that the detection uses
NUMBER = re.compile(r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf|infinity)", re.IGNORECASE)
CANONICAL_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")  # without leading zeros or a plus sign
DECIMAL_COMMA = re.compile(r'(?:^|;)[ "]*[-+]?[0-9]+,[0-9]+(?:[eE][-+]?[0-9]+)?[ "]*(?=;|\r|\n|\Z)', re.MULTILINE)
SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas"}


class Dialect(NamedTuple):
    """The format of a text file."""

    delimiter: str
    decimal: str
    header: bool
    first: list[str]  # the first record


def detect_dialect(text: TextFile) -> Dialect:
    """Return the format of the text, from the extension of the file and its first records."""
    delimiter = "\t" if text.file.extension == ".tsv" else _delimiter(text)
    sample = [fields for _, fields in islice(records(text, delimiter), SAMPLE_RECORDS)]
    if not sample:
        raise ValueError(f"{text.name} is empty; give a file with at least one observed cell.")
    if max(map(len, sample)) < 2:
        raise ValueError(
            f"{text.name} has a single column, {quoted(sample[0][0])}; separate fields by commas, semicolons or tabs."
        )
    decimal = "," if delimiter == ";" and _has_decimal_comma(text) else "."
    header = _has_header(sample, decimal)
    if header and not _is_counter(sample[0]) and _looks_like_data(sample[0], decimal):
        raise ValueError(
            f"the first line of {text.name} ({listed(sample[0])}) looks like data; add a line of column names above it."
        )
    return Dialect(delimiter, decimal, header, sample[0])


def _has_decimal_comma(text: TextFile) -> bool:
    lines = text.lines()
    with text.file.passes.one("decimal separators"):
        return any(DECIMAL_COMMA.search("".join(piece)) for piece in iter(lambda: list(islice(lines, 1000)), []))


def dialect_notes(dialect: Dialect, text: TextFile) -> list[str]:
    """Return notes on a format that is not the default of its extension."""
    notes = []
    if dialect.decimal == ",":
        notes.append("fields are separated by semicolons and decimals by commas")
    elif text.file.extension == ".csv" and dialect.delimiter != ",":
        notes.append(f"fields are separated by {SEPARATORS[dialect.delimiter]}")
    if not dialect.header:
        notes.append("the first line contains no column names, so columns are numbered from 0")
    elif _is_counter(dialect.first):
        notes.append(f"the first line, 0 to {dialect.first[-1]}, is read as column names")
    return notes


def is_number(text: str, decimal: str = ".") -> bool:
    """Whether a field is a number."""
    return NUMBER.fullmatch(_with_points(text.strip(" \t"), decimal)) is not None


def _with_points(text: str, decimal: str) -> str:
    return text.translate(SWAP_POINT_AND_COMMA) if decimal == "," else text


def _delimiter(text: TextFile) -> str:
    """Return the delimiter that gives all sample records the same number of fields, or else the first one the most."""
    samples = {delimiter: _sample(text, delimiter) for delimiter in SEPARATORS}
    regular = [delimiter for delimiter, sample in samples.items() if _is_regular(sample)]
    if "," in regular:  # unless they are decimal commas
        regular = [delimiter for delimiter in regular if delimiter == "," or _has_decimal_commas(samples[delimiter])]
    if regular:
        return regular[0]
    return max(reversed(samples), key=lambda delimiter: _first_width(text, delimiter))


def _sample(text: TextFile, delimiter: str) -> list[list[str]]:
    """Return the first records, or none if they cannot be split into fields by this delimiter."""
    try:
        return [fields for _, fields in islice(records(text, delimiter), SAMPLE_RECORDS)]
    except ValueError:
        return []


def _first_width(text: TextFile, delimiter: str) -> int:
    """Return the number of fields of the first record, also if a later one cannot be split: that is a later error."""
    try:
        return len(next(fields for _, fields in records(text, delimiter)))
    except (StopIteration, ValueError):
        return 0


def _is_regular(sample: list[list[str]]) -> bool:
    """Whether all records have the same number of fields, at least two; the header of R's tables has one less."""
    widths = [len(fields) for fields in sample]
    return min(widths, default=0) > 1 and len(set(widths[1:])) < 2 and widths[-1] - widths[0] in (0, 1)


def _has_decimal_commas(sample: list[list[str]]) -> bool:
    return all(is_number(field, ",") for fields in sample for field in fields if "," in field)


def _has_header(sample: list[list[str]], decimal: str) -> bool:
    first = sample[0]
    if not all(field in MISSING or is_number(field, decimal) for field in first):
        return True
    return _is_counter(first) or _has_corner(sample)


def _is_counter(first: list[str]) -> bool:
    """Whether a line is 0, 1, 2, …, the default column names of pandas."""
    return len(first) > 1 and first == [str(k) for k in range(len(first))]


def _has_corner(sample: list[list[str]]) -> bool:
    """Whether the first field is empty, followed by distinct integers, with distinct labels below it."""
    (corner, *names), below = sample[0], [fields[0] for fields in sample[1:]]
    return (
        corner == ""
        and all(CANONICAL_INTEGER.fullmatch(name) for name in names)
        and len(set(names)) == len(names)
        and "" not in below
        and len(set(below)) == len(below) > 0
    )


def _looks_like_data(first: list[str], decimal: str) -> bool:
    """Whether the numbers in a header cannot be column names, which are distinct integers or a monotone scale."""
    fields = [field for field in first if is_number(field, decimal)]
    if all(CANONICAL_INTEGER.fullmatch(field) for field in fields) and len(set(fields)) == len(fields):
        return False
    scale = [float(_with_points(field, decimal)) for field in fields]
    steps = [after - before for before, after in pairwise(scale)]
    return not steps or not (min(steps) > 0 or max(steps) < 0)
