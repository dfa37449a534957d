"""Text that a spreadsheet would run as a formula, and the apostrophe that keeps it text.

Spreadsheets take a cell of a text file that begins with = + - @, a tab or a carriage return for a formula.  An
apostrophe before it is the spreadsheets' own mark for text.  Text that already has apostrophes there gets one more, so
that reading, which takes one off, gives back what was written.
"""

import re

__all__ = ["guarded", "without_guard"]

FORMULA = re.compile(r"'*[=+\-@\t\r]")
GUARDED = re.compile(r"'+[=+\-@\t\r]")
# A number in any notation, or a sign alone, such as the strands + and -, is not a formula.
HARMLESS = re.compile(r"[-+]?[0-9.][0-9.,' ]*(?:[eE][-+]?[0-9]+)? ?%?|.|[-+]?inf(?:inity)?", re.IGNORECASE)


def guarded(text: str) -> str:
    """Return text that a spreadsheet does not run."""
    return f"'{text}" if FORMULA.match(text) and not HARMLESS.fullmatch(text) else text


def without_guard(text: str) -> str:
    """Return the text that ``guarded`` was given."""
    return text[1:] if GUARDED.match(text) else text
