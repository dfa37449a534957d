"""A table with missing values for the tests of the imputer."""

import numpy as np

from manifill.base.arrays import Matrix


def table_with_missing_values(m: int = 160, n: int = 20, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Return a table of rank 2 with row and column effects and noise 0.3, and the same with 40 % missing."""
    rng = np.random.default_rng(seed)
    full = 10.0 + rng.normal(size=n) + 0.5 * rng.normal(size=(m, 1)) + 0.3 * rng.normal(size=(m, n))
    full += rng.normal(size=(m, 2)) @ rng.normal(size=(2, n))
    return full, np.where(rng.random((m, n)) < 0.6, full, np.nan)
