"""Counts, long texts and commands in messages."""

import shlex
from os import PathLike

__all__ = ["as_argument", "counted", "shortened"]

# Longer texts lose their middle: labels differ at their ends.
LONGEST = 60


def counted(count: int, noun: str) -> str:
    """Return '1 row' or '2 rows'."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def as_argument(path: str | PathLike[str]) -> str:
    """Return a path as it must be typed in a shell."""
    return shlex.quote(str(path))


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return text of at most ``longest`` characters, with an ellipsis in its middle if it was longer."""
    if len(text) <= longest:
        return text
    kept = longest - 1
    return f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"
