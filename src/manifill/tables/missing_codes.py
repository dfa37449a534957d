"""Entries that mean missing: those that are known, and codes that the caller names."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from manifill.base.arrays import Array

__all__ = ["MISSING", "MissingCodes"]

# Entries that mean missing, in numbers and in labels.
MISSING = ("", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "Null", "NULL", "None", "?")


class MissingCodes(NamedTuple):
    """What means missing in a file: these texts, and these numbers however they are written."""

    texts: tuple[str, ...] = MISSING
    numbers: tuple[float, ...] = ()

    @classmethod
    def with_codes(cls, codes: Sequence[str | float]) -> "MissingCodes":
        """Return the known texts and these codes; a code that is a number stands for every way to write it."""
        if isinstance(codes, str):
            raise ValueError(f"missing is a list of codes such as [{codes!r}], not the text {codes!r}.")
        texts = [str(code).strip() for code in codes]
        numbers = [number for number in map(_as_number, texts) if number is not None]
        return cls((*MISSING, *texts), tuple(numbers))

    @property
    def given(self) -> tuple[str, ...]:
        """The codes that the caller named, as text."""
        return self.texts[len(MISSING) :]

    def among_numbers(self, values: Array) -> Array | None:
        """Return which numbers are codes, or None if none is."""
        found = np.isin(values, self.numbers) if self.numbers else None
        return found if found is not None and found.any() else None

    def removed_from(self, values: Array) -> Array:
        """Return the numbers with NaN instead of codes; unchanged if there are none."""
        found = self.among_numbers(values)
        return values if found is None else np.where(found, np.nan, values)

    def among_texts(self, texts: Any) -> Any:
        """Return which entries of a pandas Series of text are codes."""
        return texts.isin(self.texts)


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number
