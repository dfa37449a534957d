"""Text that a spreadsheet would run as a formula, and the apostrophe that keeps it text.

Spreadsheets take a cell of a text file that begins with = + - @, a tab or a carriage return for a formula.  An
apostrophe before it is the spreadsheets' own mark for text.  Text that already has apostrophes there gets one more, so
that reading, which takes one off, gives back what was written.
"""

import re
from typing import Any

import pandas as pd

__all__ = ["guarded", "guarded_frame", "without_guard"]

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


def guarded_frame(frame: Any) -> Any:
    """Return a DataFrame whose text and column names a spreadsheet does not run; the same one if they are harmless."""
    changed = {}
    for name, column in frame.items():
        if not pd.api.types.is_numeric_dtype(column):
            codes, distinct = pd.factorize(column.to_numpy(dtype=object))
            safe = [guarded(entry) if isinstance(entry, str) else entry for entry in distinct]
            if any(one is not other for one, other in zip(safe, distinct, strict=True)):
                changed[name] = pd.Series([*safe, None], dtype=object).to_numpy()[codes]
    names = [guarded(name) if isinstance(name, str) else name for name in frame]
    if changed:
        frame = frame.copy(deep=False)
        for name, column in changed.items():
            frame[name] = column
    return frame if names == list(frame) else frame.set_axis(names, axis=1)
