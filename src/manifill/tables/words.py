"""Lists and numbers in sentences."""

from collections.abc import Collection

__all__ = ["are", "counted", "listed", "shown"]

MOST_LISTED = 8


def shown(name: str) -> str:
    """Return a column's name as sentences have it."""
    return name if name.strip() else "the unnamed column"


def listed(names: Collection[str]) -> str:
    """Return 'a, b and c', or the first few and how many more there are."""
    words = [shown(name) for name in names]
    if len(words) > MOST_LISTED:
        words = [*words[: MOST_LISTED - 1], f"{len(words) - MOST_LISTED + 1} more"]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def counted(count: int, noun: str) -> str:
    """Return '1 row' or '2 rows'."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def are(names: Collection[str]) -> str:
    """Return 'is' or 'are', to follow a list of names."""
    return "is" if len(names) == 1 else "are"
