"""A low-rank matrix at single cells."""

from collections.abc import Iterator
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from manifill.compiled import compiled
from manifill.posterior.draws import Draws
from manifill.types import Array, IntVector, Matrix, Vector

__all__ = ["CellDraw", "at_cells", "check_cells", "product_at_cells"]


class CellDraw(NamedTuple):
    """One draw of X and of the noise, at k cells."""

    x: Vector  # (k,), overwritten by the next draw
    sigma: Array  # a number, or (k,)


@compiled
def product_at_cells(left: Matrix, right: Matrix, rows: IntVector, cols: IntVector, out: Vector) -> None:
    """Write left_i · right_j to ``out`` for each pair of ``rows`` and ``cols``, which are not checked."""
    for k in range(rows.size):
        i, j, x = rows[k], cols[k], 0.0
        for c in range(left.shape[1]):
            x += left[i, c] * right[j, c]
        out[k] = x


def at_cells(draws: Draws, rows: IntVector, cols: IntVector, kept: Array | None = None) -> Iterator[CellDraw]:
    """Yield one draw after another, chain after chain, or only those that the mask ``kept`` names."""
    x = np.empty(rows.size)
    factors = draws.factors() if kept is None else compress(draws.factors(), kept)
    for left, right, sigma in factors:
        product_at_cells(left, right, rows, cols, x)
        yield CellDraw(x, sigma if sigma.ndim == 0 else sigma[cols])


def check_cells(shape: tuple[int, int], rows: ArrayLike, cols: ArrayLike) -> tuple[IntVector, IntVector]:
    """Return indices of cells that compiled code may trust, or raise a ValueError."""
    row_index, col_index = _checked("rows", rows, shape[0]), _checked("cols", cols, shape[1])
    if row_index.size != col_index.size:
        raise ValueError(f"rows and cols go in pairs, but there are {row_index.size} rows and {col_index.size} cols.")
    return row_index, col_index


def _checked(name: str, given: ArrayLike, size: int) -> IntVector:
    index = np.asarray(given)
    if index.ndim != 1 or (index.size and not np.issubdtype(index.dtype, np.integer)):
        raise ValueError(f"{name} must be a list of whole numbers, not {index.dtype} of shape {index.shape}.")
    broken = np.flatnonzero((index < 0) | (index >= size))
    if broken.size:
        raise ValueError(f"{name}[{broken[0]}] is {index[broken[0]]}, but {name} of this matrix are 0 to {size - 1}.")
    return index.astype(np.int64)
