"""Several completed tables whose missing entries are draws of y: multiple imputation (Rubin 1987)."""

from collections.abc import Sequence

import numpy as np

from manifill.base.arrays import Array, Generator, Matrix, Vector
from manifill.likelihoods import Likelihood
from manifill.posterior.draws import Draws
from manifill.posterior.predictive import sample_predictive
from manifill.problem import Observations

__all__ = ["imputed_tables"]


def imputed_tables(
    rng: Generator, draws: Draws, likelihood: Likelihood, known: Sequence[Observations], count: int
) -> list[Matrix]:
    """Return ``count`` completed tables, (m, n) each, from as many draws, evenly spread over all chains.

    ``known`` are the cells that keep their values.  All other entries of a table come from the same draw, so that
    relations between columns have the right uncertainty.
    """
    table = np.full(draws.shape, np.nan)
    for cells in known:
        rows, cols, values = cells.triples()
        table[rows, cols] = values
    missing = np.isnan(table)
    rows, cols = np.nonzero(missing)
    samples = sample_predictive(rng, draws, likelihood, rows, cols, count)
    return [_filled(table, missing, values) for values in samples]


def _filled(table: Matrix, missing: Array, values: Vector) -> Matrix:
    found = table.copy()
    found[missing] = values
    return found
