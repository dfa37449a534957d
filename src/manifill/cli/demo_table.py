"""The synthetic table of ``manifill demo``."""

import numpy as np

from manifill.base.arrays import Array, Generator, Matrix

__all__ = ["NOISE", "OBSERVED", "RANK", "SHAPE", "column_mean_error", "synthetic_table"]

SHAPE, RANK, OBSERVED, NOISE = (120, 80), 3, 0.3, 0.5


def synthetic_table(rng: Generator) -> Matrix:
    """Return a noisy matrix of rank ``RANK`` whose factors are waves, which show as patterns in a picture."""
    left, right = (_waves(rng, size) for size in SHAPE)
    return np.asarray(left @ right.T + NOISE * rng.normal(size=SHAPE))


def _waves(rng: Generator, size: int) -> Matrix:
    """Return a factor, (size, RANK): column k is a wave with k periods, amplitude 1.5/√k and a random phase."""
    component = np.arange(1, RANK + 1)
    angles = np.outer(np.linspace(0.0, 2.0 * np.pi, size), component) + rng.uniform(0.0, 2.0 * np.pi, RANK)
    return np.asarray(1.5 * np.cos(angles) / np.sqrt(component))


def column_mean_error(table: Matrix, observed: Array) -> float:
    """Return the RMSE at the missing entries if each is filled in with the mean of its column."""
    means = np.nanmean(np.where(observed, table, np.nan), axis=0)
    return float(np.sqrt(np.mean((np.broadcast_to(means, table.shape) - table)[~observed] ** 2)))
