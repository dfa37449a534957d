"""Errors that callers distinguish from other ValueErrors and OSErrors."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from manifill.base.argument_words import Argument, Wording

__all__ = ["CannotResumeError", "ChainsKilledError", "Damage", "DamagedRunError", "DiskFullError"]


class CannotResumeError(ValueError):
    """The run in a folder cannot be resumed."""


class Damage(NamedTuple):
    """What is wrong with a file of a run."""

    file: Path
    problem: str  # "is missing", or another predicate
    chain: int | None = None  # the chain whose draws the file holds; None if the whole run depends on it

    def __str__(self) -> str:
        return f"{self.file} {self.problem}"


class DamagedRunError(ValueError):
    """Files of a run are missing or damaged; the message names the first and says what to do."""

    def __init__(self, message: str, damage: Iterable[Damage] = ()) -> None:
        super().__init__(message)
        self.damage = tuple(damage)

    @classmethod
    def of(cls, damage: Iterable[Damage], remedy: str | None = None) -> "DamagedRunError":
        """Return the error about these files; the remedy depends on whether the whole run needs them."""
        found = tuple(damage)
        first, more = found[0], len(found) - 1
        others = f" (and {more} more {'file' if more == 1 else 'files'} of the run)" if more else ""
        if remedy is None and any(one.chain is None for one in found):
            remedy = "restore it from a copy, or fit again"
        elif remedy is None:
            remedy = Wording("restore it from a copy, or leave its chain out with ", Argument("skip_damaged", True))
        return cls(Wording(f"{first}{others}; ", remedy, "."), found)


class DiskFullError(OSError):
    """A file could not be written because its disk is full."""


class ChainsKilledError(ChildProcessError):
    """Processes of chains were killed, and again after they had been started again."""

    def __init__(self, killed: str, remedy: str) -> None:
        super().__init__(Wording(f"{killed}; ", remedy, "."))
        self.killed = killed  # which chains, and why: "chain 2 was killed, perhaps for lack of memory"
