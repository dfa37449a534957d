"""Names, lists and counts in messages."""

from collections.abc import Collection

__all__ = ["counted", "display_name", "is_or_are", "listed"]

MAX_LISTED = 8


def display_name(name: str) -> str:
    """Return the name of a column, or a description if it has no name."""
    return name if name.strip() else "the unnamed column"


def listed(names: Collection[str]) -> str:
    """Return 'a, b and c'; a long list ends in the number of names that are not shown."""
    texts = [display_name(name) for name in names]
    if len(texts) > MAX_LISTED:
        texts = [*texts[: MAX_LISTED - 1], f"{len(texts) - MAX_LISTED + 1} more"]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def counted(count: int, noun: str) -> str:
    """Return '1 row' or '2 rows'."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def is_or_are(names: Collection[str]) -> str:
    """Return the verb that follows a list of names."""
    return "is" if len(names) == 1 else "are"
