"""Names and shapes of the variables of a draw."""

from typing import NamedTuple

__all__ = ["Variable"]


class Variable(NamedTuple):
    """One array of a draw: its name, the names of its dimensions and their sizes."""

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
