"""The choice of observed cells to hold out: single cells, whole rows or columns, or a block of rows and columns."""

from typing import Literal, get_args

import numpy as np

from manifill.base.arrays import Array, Generator, IntVector
from manifill.base.wording import counted
from manifill.problem.observations import Observations

__all__ = ["HoldOutBy", "cells_to_hold_out", "check_amount"]

HoldOutBy = Literal["cell", "row", "column", "block"]

BELOW_ONE = np.nextafter(1.0, 0.0)  # the share of all rows: 1 would be the number of one row


def check_amount(amount: float, by: HoldOutBy) -> None:
    """Raise a ValueError if this is not an amount to hold out: a share below 1, or a whole number."""
    if by not in get_args(HoldOutBy):
        raise ValueError(f"by must be one of {', '.join(map(repr, get_args(HoldOutBy)))}, not {by!r}.")
    if not (0.0 < amount < 1.0 or (amount >= 1.0 and amount == round(amount))):
        raise ValueError(f"amount must be a share above 0 and below 1, or a whole number, not {amount!r}.")


def cells_to_hold_out(rng: Generator, observations: Observations, amount: float, by: HoldOutBy = "cell") -> Array:
    """Return a mask of the cells to hold out, in the order of ``triples``, (N,).

    ``amount`` is a share, or the number of cells, rows or columns if it is at least 1.  Shares are those of the
    observed cells, or of the rows or columns that have any.  A block is made of the same share of the rows and of the
    columns, so that it contains about ``amount`` of the observed cells if they are spread evenly.
    """
    check_amount(amount, by)
    rows, cols, _ = observations.triples()
    if by == "cell":
        mask = np.zeros(observations.size, dtype=bool)
        count = round(amount * observations.size) if amount < 1.0 else int(amount)
        mask[rng.permutation(observations.size)[max(observations.size - count, 0) :]] = True
    elif by == "block":
        side = min(np.sqrt(amount if amount < 1.0 else amount / observations.size), BELOW_ONE)
        mask = _in_chosen(rng, rows, side) & _in_chosen(rng, cols, side)
    else:
        mask = _in_chosen(rng, rows if by == "row" else cols, amount)
    if mask.all() or not mask.any():
        remedy = "hold out less" if mask.all() else "hold out more"
        raise ValueError(
            f"holding out {amount:g} by {by} leaves {counted(int(np.sum(~mask)), 'cell')} to fit and "
            f"{counted(int(mask.sum()), 'cell')} to check, of {observations.size}; {remedy}."
        )
    return mask


def _in_chosen(rng: Generator, index: IntVector, amount: float) -> Array:
    """Choose rows, or columns, at random and return whether each cell is in one; ``index`` holds those of the cells."""
    known = np.unique(index)
    count = max(round(amount * known.size), 1) if amount < 1.0 else int(min(amount, known.size))
    return np.isin(index, rng.choice(known, count, replace=False))
