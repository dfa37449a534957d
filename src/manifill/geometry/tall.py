"""Products of tall n×r arrays with small matrices: the only places of the geometry that touch n rows."""

import numpy as np

from manifill.compiled import compiled
from manifill.types import Matrix, Vector

__all__ = ["BLOCK_ROWS", "advance", "gram", "half_excess", "rattle_advance", "subtract_product", "weigh_rows"]

# Rows are handled in blocks that stay in the first-level cache between the copies and the product.
BLOCK_ROWS = 256


@compiled
def gram(X: Matrix, Y: Matrix, out: Matrix) -> None:
    """Write XᵀY to ``out``; X and Y are n×r."""
    np.dot(X.T, Y, out)


@compiled
def weigh_rows(X: Matrix, weights: Vector, out: Matrix) -> None:
    """Write X, each row times its weight, to ``out``; both are n×r, and ``weights`` has n numbers."""
    n, r = X.shape
    for i in range(n):
        for j in range(r):
            out[i, j] = weights[i] * X[i, j]


@compiled
def half_excess(X: Matrix, out: Matrix) -> None:
    """Write ½(XᵀX − I) to ``out``: zero but for rounding errors where X is orthonormal."""
    gram(X, X, out)
    for a in range(out.shape[0]):
        out[a, a] -= 1.0
        for b in range(out.shape[0]):
            out[a, b] *= 0.5


@compiled
def subtract_product(X: Matrix, M: Matrix, block: Matrix, Y: Matrix) -> None:
    """Subtract X·M from Y in place; X and Y are n×r, M is r×r, ``block`` is scratch of BLOCK_ROWS rows."""
    n, size = X.shape[0], block.shape[0]
    for start in range(0, n, size):
        stop = min(start + size, n)
        product = block[: stop - start]
        np.dot(X[start:stop], M, product)
        # Flat views, so that one long loop is vectorised and not many short ones.
        flat, target = product.reshape(-1), Y[start:stop].reshape(-1)
        for k in range(flat.size):
            target[k] -= flat[k]


@compiled
def advance(X: Matrix, W: Matrix, E: Matrix, block: Matrix, product: Matrix) -> None:
    """Replace [X, W] by [X, W]·E in place; E is 2r×2r, ``block`` and ``product`` are scratch of 2r columns."""
    n, r = X.shape
    size = block.shape[0]
    for start in range(0, n, size):
        count = min(size, n - start)
        for i in range(count):
            for j in range(r):
                block[i, j] = X[start + i, j]
            for j in range(r):
                block[i, r + j] = W[start + i, j]
        np.dot(block[:count], E, product[:count])
        for i in range(count):
            for j in range(r):
                X[start + i, j] = product[i, j]
            for j in range(r):
                W[start + i, j] = product[i, r + j]


@compiled
def rattle_advance(X: Matrix, W: Matrix, M: Matrix, time: float, block: Matrix) -> None:
    """Replace W by W½ = W − XM and X by X + hW½, in place; M is r×r, h is ``time``."""
    n, size = X.shape[0], block.shape[0]
    for start in range(0, n, size):
        stop = min(start + size, n)
        product = block[: stop - start]
        np.dot(X[start:stop], M, product)
        p, x, w = product.reshape(-1), X[start:stop].reshape(-1), W[start:stop].reshape(-1)
        for k in range(p.size):
            w[k] -= p[k]
            x[k] += time * w[k]
