"""Text files, read in pieces: their encoding, their lines, and the longest line that is accepted."""

import codecs
import io
from collections.abc import Iterator
from typing import NamedTuple, TextIO

from manifill.tables.input_file import InputFile
from manifill.tables.message_text import size_text

__all__ = ["TextFile", "open_text_file"]

PIECE = 1 << 20  # bytes
LONGEST_LINE = 1 << 28  # characters; a line is held in memory as a whole


class TextFile(NamedTuple):
    """The text of a file, which has been read once, so that its encoding is known and compressed data are intact."""

    file: InputFile
    encoding: str
    has_quotes: bool
    size: int = 0  # bytes

    @property
    def name(self) -> str:
        """The path, for messages."""
        return self.file.name

    def open(self) -> TextIO:
        """Open the text; line ends are as in the file."""
        return io.TextIOWrapper(self.file.open(), self.encoding, errors="replace", newline="")

    def lines(self) -> Iterator[str]:
        """Yield the lines with their ends; one that is too long raises a ValueError."""
        with self.open() as stream:
            number = 0
            while line := stream.readline(LONGEST_LINE):
                number += 1
                if len(line) == LONGEST_LINE:
                    raise ValueError(
                        f"line {number} of {self.name} has more than {size_text(LONGEST_LINE)} of text; "
                        "give one line per row of the table."
                    )
                yield line


# Bytes that are control characters in Latin-1, which no text has, and those of them that Windows-1252 does not use.
CONTROLS, UNDEFINED = bytes(range(0x80, 0xA0)), bytes([0x81, 0x8D, 0x8F, 0x90, 0x9D])


class _Contents(NamedTuple):
    size: int
    is_utf8: bool
    is_blank: bool
    has_zeros: bool
    has_quotes: bool
    is_windows: bool  # if it is not UTF-8: whether it is Windows-1252 rather than Latin-1


def open_text_file(file: InputFile) -> tuple[TextFile, tuple[str, ...]]:
    """Return the text of a file, and notes on its encoding."""
    encoding = _marked_encoding(file)
    with file.passes.one("encoding"):
        contents = _inspected(file, encoding or "utf-8")
    if contents.is_blank:
        raise ValueError(f"{file.name} is empty; give a file with at least one observed cell.")
    if contents.has_zeros:
        raise ValueError(f"{file.name} is not a text file (it contains zero bytes); export the table as CSV.")
    if encoding == "utf-16":
        return TextFile(file, encoding, contents.has_quotes, contents.size), (f"{file.name} is read as UTF-16",)
    if contents.is_utf8:
        return TextFile(file, encoding or "utf-8", contents.has_quotes, contents.size), ()
    encoding, name = ("cp1252", "Windows-1252") if contents.is_windows else ("latin-1", "Latin-1")
    notes = (f"{file.name} is not UTF-8 and is read as {name}",)
    return TextFile(file, encoding, contents.has_quotes, contents.size), notes


def _marked_encoding(file: InputFile) -> str | None:
    """Return the encoding that the first bytes state, or None."""
    with file.open() as stream:
        start = stream.read(3)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # as Excel saves "Unicode text"
        return "utf-16"
    return "utf-8-sig" if start == codecs.BOM_UTF8 else None


def _inspected(file: InputFile, encoding: str) -> _Contents:
    """Read the whole file once; what is not in the encoding is inspected as Latin-1."""
    decode = codecs.getincrementaldecoder(encoding)("replace" if encoding == "utf-16" else "strict").decode
    size, is_utf8, is_blank, has_zeros, has_quotes = 0, True, True, False, False
    has_controls, has_undefined = False, False
    with file.open() as stream:
        more = True
        while more:
            piece = stream.read(PIECE)
            more = bool(piece)
            size += len(piece)
            has_controls = has_controls or _has_any(piece, CONTROLS)
            has_undefined = has_undefined or _has_any(piece, UNDEFINED)
            if is_utf8:
                try:
                    text = decode(piece, not more)
                except UnicodeDecodeError:
                    is_utf8 = False
            if not is_utf8:
                text = piece.decode("latin-1")
            is_blank = is_blank and not text.strip()
            has_zeros = has_zeros or "\0" in text
            has_quotes = has_quotes or '"' in text
    return _Contents(size, is_utf8, is_blank, has_zeros, has_quotes, has_controls and not has_undefined)


def _has_any(piece: bytes, some: bytes) -> bool:
    return len(piece.translate(None, some)) < len(piece)
