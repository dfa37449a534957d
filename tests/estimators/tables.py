"""Small tables for the estimator's tests."""

import numpy as np

from manifill.base.arrays import Matrix


def low_rank_table(m: int = 14, n: int = 9, rank: int = 2, noise: float = 0.3, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Return a full noisy table, and the same with about 40 % of its cells missing."""
    rng = np.random.default_rng(seed)
    full = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n)) + noise * rng.normal(size=(m, n))
    return full, np.where(rng.random((m, n)) < 0.6, full, np.nan)
