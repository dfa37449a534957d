"""What is fuzzed, and with what."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["Case", "Target", "assert_documented"]


class Case(NamedTuple):
    """The files of one trial, and what else it needs."""

    files: dict[str, bytes]  # contents by name
    arguments: dict[str, Any]
    folders: tuple[str, ...] = ()  # empty ones
    links: Mapping[str, str] = MappingProxyType({})  # what symbolic links refer to, by name


class Target(NamedTuple):
    """A part of the package that is fuzzed."""

    name: str
    make: Callable[[Random], Case]
    # Takes the folder with the files and returns a word on what came out, which is counted; an exception is a failure.
    check: Callable[[Path, Case], str]


def assert_documented(error: ValueError, name: str) -> None:
    """Check that the message of an error is one sentence that names the file."""
    message = str(error)
    assert "\n" not in message, message
    assert name in message, message
    assert message.endswith("."), message
    assert len(message) < 2000, message
