"""Names, lists and counts in messages."""

from collections.abc import Collection

from manifill.base.wording import counted

__all__ = ["counted", "display_name", "is_or_are", "listed", "quoted", "reason", "shown", "size_text"]

MAX_LISTED = 8
LONGEST_SHOWN = 60  # characters of an entry or a name
LONGEST_REASON = 200  # characters; a damaged file may show as a part of its error


def display_name(name: str) -> str:
    """Return the name of a column, or a description if it has no name."""
    return shown(name) if name.strip() else "the unnamed column"


def shown(text: str) -> str:
    """Return text of a file in one line and not too long, with escapes for what cannot be printed."""
    text = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
    return text if text.isprintable() else repr(text)[1:-1]


def quoted(text: str) -> str:
    """Return text of a file as it is shown in messages, in quotation marks."""
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")


def listed(names: Collection[str]) -> str:
    """Return 'a, b and c'; a long list ends in the number of names that are not shown."""
    texts = [display_name(name) for name in names]
    if len(texts) > MAX_LISTED:
        texts = [*texts[: MAX_LISTED - 1], f"{len(texts) - MAX_LISTED + 1} more"]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def is_or_are(names: Collection[str]) -> str:
    """Return the verb that follows a list of names."""
    return "is" if len(names) == 1 else "are"


def size_text(size: int) -> str:
    """Return a number of bytes as people write it: '512 bytes', '29.0 MB', '8.0 GB'; a GB is 2**30 bytes."""
    if size < 1024:
        return counted(size, "byte")
    power = min((size.bit_length() - 1) // 10, 5)
    return f"{size / 1024**power:.1f} {'KMGTP'[power - 1]}B"


def reason(error: Exception) -> str:
    """Return the message of another package's exception as a part of a sentence, in one line."""
    text = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror  # without the number
    text = " ".join(text.split()).rstrip(".") or type(error).__name__
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]} …"
