"""Draws of X at individual cells."""

from collections.abc import Iterator
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from manifill.base.arrays import Array, IntVector, Matrix, Vector
from manifill.base.jit import compiled
from manifill.likelihoods import Likelihood
from manifill.posterior.cell_parameters import parameters_at, variables_needed
from manifill.posterior.draws import Draws
from manifill.posterior.submatrix import submatrix_factors

__all__ = ["CellDraw", "at_cells", "check_cells", "product_at_cells"]


class CellDraw(NamedTuple):
    """One draw of X and of the likelihood's parameters, at k cells."""

    x: Vector  # (k,), overwritten by the next draw
    parameters: dict[str, Array]  # scalars, or (k,)


@compiled
def product_at_cells(left: Matrix, right: Matrix, rows: IntVector, cols: IntVector, out: Vector) -> None:
    """Write left_i · right_j to ``out`` for each pair of ``rows`` and ``cols``, which are not checked."""
    for k in range(rows.size):
        i, j, x = rows[k], cols[k], 0.0
        for c in range(left.shape[1]):
            x += left[i, c] * right[j, c]
        out[k] = x


def at_cells(
    draws: Draws, likelihood: Likelihood, rows: IntVector, cols: IntVector, kept: Array | None = None
) -> Iterator[CellDraw]:
    """Yield the draws, chain by chain, or only those selected by the mask ``kept``."""
    x = np.empty(rows.size)
    m, n = draws.shape
    used_rows, rows = _renumbered(rows, m)
    used_cols, cols = _renumbered(cols, n)
    factors = submatrix_factors(draws, used_rows, used_cols, variables_needed(draws, likelihood))
    if kept is not None:
        factors = compress(factors, kept)
    for left, right, variables in factors:
        product_at_cells(left, right, rows, cols, x)
        yield CellDraw(x, parameters_at(variables, rows, cols))


def _renumbered(index: IntVector, size: int) -> tuple[IntVector, IntVector]:
    """Return the distinct values of ``index``, all below ``size``, ascending, and the position of each entry there."""
    used = np.zeros(size, dtype=bool)
    used[index] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[index]


def check_cells(shape: tuple[int, int], rows: ArrayLike, cols: ArrayLike) -> tuple[IntVector, IntVector]:
    """Return indices of cells that compiled code may trust, or raise a ValueError."""
    row_index, col_index = _checked("rows", rows, shape[0]), _checked("cols", cols, shape[1])
    if row_index.size != col_index.size:
        raise ValueError(
            f"rows and cols must have the same length, but there are {row_index.size} rows and {col_index.size} cols."
        )
    return row_index, col_index


def _checked(name: str, given: ArrayLike, size: int) -> IntVector:
    index = np.asarray(given)
    if index.ndim != 1 or (index.size and not np.issubdtype(index.dtype, np.integer)):
        raise ValueError(f"{name} must be a list of whole numbers, not {index.dtype} of shape {index.shape}.")
    broken = np.flatnonzero((index < 0) | (index >= size))
    if broken.size:
        raise ValueError(f"{name}[{broken[0]}] is {index[broken[0]]}, but {name} of this matrix are 0 to {size - 1}.")
    return index.astype(np.int64)
