"""Running means and sums of squares (Welford 1962)."""

from typing import TypeVar

from manifill.base.arrays import Array

__all__ = ["add_value"]

Value = TypeVar("Value", float, Array)


def add_value(count: int, mean: Value, value: Value) -> tuple[Value, Value]:
    """Return the mean of ``count`` values, the last of them ``value``, and its share of the squared deviations."""
    step = value - mean
    updated = mean + step / count
    return updated, step * (value - updated)
