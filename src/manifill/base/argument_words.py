"""Sentences that name arguments, which Python and the command line write differently."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple

__all__ = ["ABSENT", "Argument", "Wording", "joined", "message_of", "strung", "worded"]


class _Absent(Enum):
    """Stands for no value, since None is a value of many arguments; the same in every process."""

    ABSENT = "absent"


ABSENT = _Absent.ABSENT


class Argument(NamedTuple):
    """An argument that a sentence names, perhaps with a value: ``row``, ``duplicates='average'``."""

    name: str
    value: Any = ABSENT

    def in_python(self) -> str:
        """Return the argument as a Python call has it."""
        return self.name if self.value is ABSENT else f"{self.name}={self.value!r}"


class Wording(str):
    """A sentence with its arguments in the words of Python, which ``worded`` gives in other words.

    It is a string, so that it can be the message of any exception, or a note.
    """

    parts: tuple[str | Argument, ...]

    def __new__(cls, *parts: str | Argument) -> "Wording":
        """Return the sentence made of these parts, which may be sentences too."""
        flat = tuple(one for part in parts for one in (part.parts if isinstance(part, Wording) else (part,)))
        made = super().__new__(cls, _text(flat, Argument.in_python))
        made.parts = flat
        return made


def worded(message: object, write: Callable[[Argument], str]) -> str:
    """Return a message, or the message of an exception, with its arguments written by ``write``."""
    if isinstance(message, BaseException):
        message = message_of(message)
    return _text(message.parts, write) if isinstance(message, Wording) else str(message)


def message_of(error: BaseException) -> str:
    """Return the message of an exception, with its arguments if it is a ``Wording``."""
    return error.args[0] if len(error.args) == 1 and isinstance(error.args[0], Wording) else str(error)


def joined(arguments: Sequence[Argument]) -> list[str | Argument]:
    """Return the parts of 'a, b and c'."""
    parts: list[str | Argument] = []
    for k, argument in enumerate(arguments):
        parts += [("" if k == 0 else " and " if k == len(arguments) - 1 else ", "), argument]
    return parts


def strung(texts: Sequence[str], separator: str = "; ") -> list[str | Argument]:
    """Return the parts of several texts, some of them wordings, one after the other."""
    parts: list[str | Argument] = []
    for k, text in enumerate(texts):
        parts += [*([separator] if k else []), *(text.parts if isinstance(text, Wording) else [text])]
    return parts


def _text(parts: tuple[str | Argument, ...], write: Callable[[Argument], str]) -> str:
    return "".join(write(part) if isinstance(part, Argument) else part for part in parts)
