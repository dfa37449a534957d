"""Leading singular triples of a sparse matrix outside given subspaces."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, svds

from manifill.base import progress
from manifill.base.arrays import Matrix, Vector

__all__ = ["Triples", "leading_triples"]

# Up to this number of multiplications a dense decomposition is as fast as an iterative one.
DENSE_WORK = 10**8

# Iterative decomposition: its tolerance, whose square is the relative error of a squared singular value; a coarser one
# for clustered singular values that do not converge; and the maximum number of restarts.
TOLERANCE, COARSE_TOLERANCE = 1e-4, 1e-2
MOST_RESTARTS = 500

# How much of a step of the search for the mode a product with the matrix and its transpose counts for.
STEPS = 0.1


class Triples(NamedTuple):
    """Singular vectors as columns of ``left`` (m×k) and ``right`` (n×k), singular values in decreasing order."""

    left: Matrix
    values: Vector
    right: Matrix

    def first(self, count: int) -> "Triples":
        """Return the first ``count`` triples."""
        return Triples(self.left[:, :count], self.values[:count], self.right[:, :count])

    @property
    def norm(self) -> float:
        """The largest singular value."""
        return float(np.max(self.values, initial=0.0))


def leading_triples(matrix: csr_array, U: Matrix, V: Matrix, count: int) -> Triples:
    """Return up to ``count`` leading triples of (I − UUᵀ) matrix (I − VVᵀ); U and V have orthonormal columns."""
    m, n = matrix.shape
    if not matrix.data.any():  # nothing to iterate on
        return Triples(np.zeros((m, 0)), np.zeros(0), np.zeros((n, 0)))
    if m * n * min(m, n) <= DENSE_WORK or min(m, n) <= 2:
        dense = matrix.toarray()
        dense -= U @ (U.T @ dense)
        dense -= (dense @ V) @ V.T
        left, values, right = np.linalg.svd(dense, full_matrices=False)
    else:
        left, values, right = _iterate(_projected(matrix, U, V), min(count, min(m, n) - 1))
    order = np.argsort(-values)[:count]
    return Triples(left[:, order], values[order], right[order].T)


def _projected(matrix: csr_array, U: Matrix, V: Matrix) -> LinearOperator:
    transposed = matrix.T.tocsr()

    def forward(v: Vector) -> Vector:
        v = matrix @ (v - V @ (V.T @ v))
        return v - U @ (U.T @ v)

    def backward(u: Vector) -> Vector:
        progress.advance(STEPS)
        u = transposed @ (u - U @ (U.T @ u))
        return u - V @ (V.T @ u)

    return LinearOperator(matrix.shape, matvec=forward, rmatvec=backward, dtype=np.float64)


def _iterate(operator: LinearOperator, count: int) -> tuple[Matrix, Vector, Matrix]:
    # An unstructured but deterministic starting vector.
    start = np.cos(np.arange(1.0, min(operator.shape) + 1.0) ** 2)
    try:
        return svds(operator, count, v0=start, tol=TOLERANCE, maxiter=MOST_RESTARTS)  # type: ignore[no-any-return]
    except ArpackNoConvergence:
        return svds(operator, count, v0=start, tol=COARSE_TOLERANCE)  # type: ignore[no-any-return]
