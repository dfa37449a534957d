"""Arguments in messages, as the command line writes them: ``--id`` for ``id_column``."""

import re
import shlex

from manifill.base.argument_words import ABSENT, Argument, worded

__all__ = ["in_command_words", "parse_codes", "parse_count", "parse_size"]

OPTIONS = {
    "held_out": "--hold-out",
    "id_column": "--id",
    "lambda_": "--lambda",
    "max_bytes": "--max-size",
    "path": "--out",
}
WITH_NONE = ("column_scales", "column_transform")  # options that have the value none; others are left out instead
UNITS = "KMGT"
SIZE = re.compile(rf"([0-9]+(?:\.[0-9]+)?) ?([{UNITS}]?)(?:i?B)?", re.IGNORECASE)


def in_command_words(message: object) -> str:
    """Return a message, or the message of an exception, with its arguments as options."""
    return worded(message, _option)


def _option(argument: Argument) -> str:
    name, value = argument
    if name == "wide" and isinstance(value, bool):
        return "--wide" if value else "--long"
    if name == "effects" and value is not ABSENT:
        return "--no-effects" if value is None else "--effects"
    option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
    if value is None and name not in WITH_NONE:
        return f"no {option}"
    return option if value is ABSENT or value is True else f"{option} {shlex.quote(_value(name, value))}"


def _value(name: str, value: object) -> str:
    if name == "max_bytes" and isinstance(value, int):
        return f"{-(-value // 2**30)}GB"
    if value is None:
        return "none"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def parse_codes(text: str | None) -> list[str]:
    """Return the codes of ``--missing``, which are separated by commas."""
    return [] if text is None else [code.strip() for code in text.split(",")]


def parse_count(text: str) -> int | str:
    """Return a number if the text is one, and otherwise the text, such as auto; settings are checked elsewhere."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else text


def parse_size(text: str | None) -> int | None:
    """Return the bytes of ``--max-size``, such as 4GB; a GB is 2**30 bytes here, as memory is counted."""
    if text is None:
        return None
    found = SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"--max-size is a number of bytes such as 500MB or 4GB, not {text!r}.")
    number, unit = found.groups()
    return int(float(number) * 1024 ** (" " + UNITS).index(unit.upper() or " "))
