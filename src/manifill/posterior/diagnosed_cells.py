"""The cells of X that are diagnosed: observed and missing ones, the surest, the least sure, and others at random."""

from typing import NamedTuple

import numpy as np

from manifill.base import progress
from manifill.base.arrays import Array, Generator, IntVector
from manifill.base.moments import add_value
from manifill.posterior.cell_draws import product_at_cells
from manifill.posterior.draws import Draws
from manifill.problem import Observations

__all__ = ["Cells", "diagnosed_cells"]

CANDIDATES = 400  # cells of each kind, observed and missing, among which the surest and the least sure are looked for
EXTREMES, AT_RANDOM = 5, 15  # cells of each kind that are chosen
SAMPLE = 100  # draws that show how sure a cell is


class Cells(NamedTuple):
    """Rows and columns of some cells, (k,) each."""

    rows: IntVector
    cols: IntVector


def diagnosed_cells(rng: Generator, draws: Draws, observed: Observations | None = None) -> Cells:
    """Return cells to diagnose; if it is not known which cells are observed, all cells count as one kind."""
    m, n = draws.shape
    kinds = [_at_random(rng, m * n, 2 * CANDIDATES)] if observed is None else _candidates(rng, observed)
    chosen = [_chosen(draws, Cells(*np.divmod(kind, n)), 1 if len(kinds) == 2 else 2) for kind in kinds if kind.size]
    return Cells(*(np.concatenate(parts) for parts in zip(*chosen, strict=True)))


def _candidates(rng: Generator, observed: Observations) -> list[IntVector]:
    """Return the numbers of some observed and of some missing cells, in random order."""
    m, n = observed.shape
    rows, cols, _ = observed.triples()
    seen = rows.astype(np.int64) * n + cols  # ascending
    missing = m * n - seen.size
    if missing <= 2 * CANDIDATES:
        unseen = rng.permutation(np.setdiff1d(np.arange(m * n), seen, assume_unique=True))
    else:  # twice as many cells as would contain CANDIDATES missing ones on average
        drawn = _at_random(rng, m * n, 2 * CANDIDATES * m * n // missing)
        unseen = drawn[seen[np.minimum(np.searchsorted(seen, drawn), seen.size - 1)] != drawn]
    return [seen[_at_random(rng, seen.size, CANDIDATES)], unseen[:CANDIDATES]]


def _at_random(rng: Generator, size: int, count: int) -> IntVector:
    """Return distinct whole numbers below ``size`` in random order, ``count`` of them if there are as many."""
    return np.asarray(rng.choice(size, size=min(count, size), replace=False), dtype=np.int64)


def _chosen(draws: Draws, cells: Cells, times: int) -> Cells:
    """Return the least sure cells, the surest ones, and others, of candidates in random order."""
    order = np.argsort(_spreads(draws, cells))
    extremes = np.concatenate([order[: times * EXTREMES], order[-times * EXTREMES :]])
    others = np.setdiff1d(np.arange(order.size), extremes)[: times * AT_RANDOM]
    kept = np.union1d(extremes, others)
    return Cells(cells.rows[kept], cells.cols[kept])


def _spreads(draws: Draws, cells: Cells) -> Array:
    """Return the sums of squares of X at the cells about its means over some draws, (k,)."""
    x, mean, spread = np.zeros((3, cells.rows.size))
    some = draws.thinned(SAMPLE)
    counted_factors = progress.counted(some.factors(), "choosing cells to diagnose", some.total, "draws")
    for k, factors in enumerate(counted_factors):
        product_at_cells(factors.left, factors.right, *cells, x)
        mean, square = add_value(k + 1, mean, x)
        spread += square
    return spread
