"""Infers the role of a column from its name."""

import re

__all__ = [
    "is_column_name",
    "is_id",
    "is_index_name",
    "is_label_name",
    "is_period_name",
    "is_row_name",
    "is_time_name",
    "is_value_name",
]

ROWS = frozenset(("i", "row", "user", "customer", "person", "patient", "subject", "reviewer", "sample", "cellline"))
COLUMNS = frozenset(("j", "col", "column", "item", "movie", "film", "product", "book", "drug", "variable", "feature"))
VALUES = frozenset(("value", "rating", "score", "star", "response", "measurement"))
TIMES = frozenset(("time", "timestamp", "date", "datetime", "ts", "when"))
PERIODS = frozenset(("year", "quarter", "month", "week", "day", "hour", "period"))
LABELS = frozenset(("name", "key", "index", "rowname"))

INDEX = re.compile(r"|Unnamed: 0(\.[0-9]+)?")  # no name, or the one that pandas gives a column without a name
ENDINGS = re.compile(r"(?<=..)(ids?|idx|index|names?|labels?|keys?|no|nr|s)$")
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")  # user_id, userId and UserID are two words each


def is_row_name(name: str) -> bool:
    """Whether the name suggests row labels, like userId."""
    return bool(_normalised(name) & ROWS)


def is_column_name(name: str) -> bool:
    """Whether the name suggests column labels, like movieId."""
    return bool(_normalised(name) & COLUMNS)


def is_value_name(name: str) -> bool:
    """Whether the name suggests the values of a long table, like rating."""
    return bool(_normalised(name) & VALUES)


def is_time_name(name: str) -> bool:
    """Whether the name suggests times, like timestamp."""
    return bool(_normalised(name) & TIMES)


def is_period_name(name: str) -> bool:
    """Whether the name suggests that integers in the column number periods, like year."""
    return bool(_normalised(name) & PERIODS)


def is_index_name(name: str) -> bool:
    """Whether the first column with this name is an index that pandas or R wrote."""
    return INDEX.fullmatch(name) is not None


def is_id(name: str) -> bool:
    """Whether the name suggests ids, like MouseID and userid, but not acid or lipid."""
    words = [word.lower() for word in WORDS.findall(name)]
    whole = "".join(words)
    return words[-1:] == ["id"] or (whole.endswith("id") and whole[:-2] in ROWS | COLUMNS)


def is_label_name(name: str) -> bool:
    """Whether the name suggests that numbers in the column are row labels."""
    return is_id(name) or bool(_normalised(name) & (ROWS | LABELS))


def _normalised(name: str) -> set[str]:
    """Return a name without case and punctuation, with and without an ending such as Id or s."""
    whole = re.sub(r"[^a-z0-9]", "", name.lower())
    return {whole, ENDINGS.sub("", whole)}
