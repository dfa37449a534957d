"""Where a chain starts: near the data, and each chain elsewhere."""

from typing import NamedTuple

import numpy as np

from manifill.problem import Likelihood, Observations
from manifill.sampling.rows import draw_rows
from manifill.types import Generator, Matrix, Vector

__all__ = ["Start", "warm_start"]

SWEEPS = 10

# The share of the data's variance that the sweeps take for noise: enough for them to forget their random start.
NOISE_SHARE = 0.1

# Singular values below this share of the largest would start a chain in the far tail of log s.
SMALLEST_SHARE = 1e-3


class Start(NamedTuple):
    """U (m×r) and V (n×r) with orthonormal columns, s (r,) positive."""

    U: Matrix
    s: Vector
    V: Matrix


def warm_start(rng: Generator, observations: Observations, likelihood: Likelihood, rank: int) -> Start:
    """Return the singular triples of A Bᵀ after a few Gibbs sweeps from random factors, at fixed precisions.

    A randomised form of alternating least squares: it finds the data's subspace as that does, and leaves each chain
    at a different point of it.
    """
    m, n = observations.shape
    by_row, by_column = (
        cells._replace(values=likelihood.starting_point(likelihood.encode(cells.values)))
        for cells in (observations.by_row, observations.by_column)
    )
    size = float(np.mean(by_row.values**2)) or 1.0
    precision = 1.0 / (NOISE_SHARE * size)
    factor_precision = np.sqrt(rank / size)  # then entries of A Bᵀ have the data's size
    A, B = np.empty((m, rank)), rng.standard_normal((n, rank)) / np.sqrt(factor_precision)
    for _ in range(SWEEPS):
        draw_rows(rng, by_row, precision, factor_precision, B, A)
        draw_rows(rng, by_column, precision, factor_precision, A, B)
    return _singular_triples(A, B)


def _singular_triples(A: Matrix, B: Matrix) -> Start:
    """Return the singular value decomposition of A Bᵀ from that of an r×r matrix."""
    QA, RA = np.linalg.qr(A)
    QB, RB = np.linalg.qr(B)
    left, s, right = np.linalg.svd(RA @ RB.T)
    return Start(
        U=np.ascontiguousarray(QA @ left),
        s=np.maximum(s, SMALLEST_SHARE * s[0]),
        V=np.ascontiguousarray(QB @ right.T),
    )
