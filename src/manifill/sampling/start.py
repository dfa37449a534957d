"""Where a chain starts: near the data, and each chain elsewhere."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from manifill.problem import Likelihood, Observations
from manifill.types import Generator, Matrix, Vector

__all__ = ["Start", "spectral_start"]

POWER_ITERATIONS = 2

# Singular values below this share of the largest would start a chain in the far tail of log s.
SMALLEST_SHARE = 1e-3


class Start(NamedTuple):
    """U (m×r) and V (n×r) with orthonormal columns, s (r,) positive."""

    U: Matrix
    s: Vector
    V: Matrix


def spectral_start(rng: Generator, observations: Observations, likelihood: Likelihood, rank: int) -> Start:
    """Return the leading singular triples of the data, zeros at unobserved cells, by a randomised range finder.

    Few power iterations from a random matrix (Halko, Martinsson and Tropp 2011) leave the chains' starts different.
    """
    m, n = observations.shape
    cells = observations.by_row
    x = likelihood.starting_point(likelihood.encode(cells.values))
    matrix = csr_array((x, cells.indices, cells.starts), shape=(m, n))
    Q = _orthonormal(matrix @ rng.standard_normal((n, rank)))
    for _ in range(POWER_ITERATIONS):
        Q = _orthonormal(matrix @ _orthonormal(matrix.T @ Q))
    left, s, right = np.linalg.svd((matrix.T @ Q).T, full_matrices=False)
    largest = s[0] if s[0] > 0.0 else 1.0
    return Start(
        U=np.ascontiguousarray(Q @ left), s=np.maximum(s, SMALLEST_SHARE * largest), V=np.ascontiguousarray(right.T)
    )


def _orthonormal(matrix: Matrix) -> Matrix:
    return np.linalg.qr(matrix)[0]
