"""Loops over the rows of a factor: products of tall n×r arrays with small matrices, and sums over rows."""

import numpy as np

from manifill.base.arrays import Matrix, Vector
from manifill.base.jit import compiled_internal

__all__ = [
    "BLOCK_ROWS",
    "advance",
    "column_products",
    "copy_scaled",
    "divide_columns",
    "gradients_in_factor",
    "gram",
    "half_excess",
    "multiply_columns",
    "rattle_advance",
    "rotate_columns",
    "subtract_product",
    "weighted_gram",
    "weighted_squares",
]

# Rows are processed in blocks that stay in the L1 cache between copy and product.
BLOCK_ROWS = 256


@compiled_internal
def gram(X: Matrix, Y: Matrix, out: Matrix) -> None:
    """Write XᵀY to ``out``; X and Y are n×r."""
    np.dot(X.T, Y, out)


@compiled_internal
def weighted_gram(X: Matrix, weights: Vector, Y: Matrix, out: Matrix) -> None:
    """Write XᵀPY to ``out``, P the diagonal matrix of the rows' weights (n,); X and Y are n×r."""
    n, r = X.shape
    block, part = np.empty((min(n, BLOCK_ROWS), r)), np.empty((r, r))
    out[:, :] = 0.0
    for start in range(0, n, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, n)
        weighted = block[: stop - start]
        for i in range(stop - start):
            for j in range(r):
                weighted[i, j] = weights[start + i] * X[start + i, j]
        np.dot(weighted.T, Y[start:stop], part)
        for a in range(r):
            for b in range(r):
                out[a, b] += part[a, b]


@compiled_internal
def copy_scaled(X: Matrix, scales: Vector, out: Matrix) -> None:
    """Write the first columns of X, each times its scale, to the first columns of ``out``."""
    for i in range(X.shape[0]):
        for c in range(scales.size):
            out[i, c] = X[i, c] * scales[c]


@compiled_internal
def gradients_in_factor(X: Matrix, G: Matrix, scales: Vector, out: Matrix, sums: Vector) -> None:
    """Write G diag(scales) to ``out`` and the diagonal of XᵀG to ``sums``; G may have more columns than X."""
    n, r = X.shape
    sums[:] = 0.0
    for i in range(n):
        for c in range(r):
            sums[c] += X[i, c] * G[i, c]
            out[i, c] = scales[c] * G[i, c]


@compiled_internal
def column_products(X: Matrix, Y: Matrix, out: Vector) -> None:
    """Write the diagonal of XᵀY to ``out``; Y may have more columns than X."""
    for c in range(X.shape[1]):
        total = 0.0
        for i in range(X.shape[0]):
            total += X[i, c] * Y[i, c]
        out[c] = total


@compiled_internal
def divide_columns(X: Matrix, divisors: Vector) -> None:
    """Divide each column of X by its divisor, in place."""
    for i in range(X.shape[0]):
        for c in range(X.shape[1]):
            X[i, c] /= divisors[c]


@compiled_internal
def weighted_squares(X: Matrix, weights: Vector) -> float:
    """Return Σ_ic weights_c X_ic²; X is n×r and the weights are those of its columns."""
    total = 0.0
    for i in range(X.shape[0]):
        for c in range(X.shape[1]):
            total += weights[c] * X[i, c] * X[i, c]
    return total


@compiled_internal
def multiply_columns(X: Matrix, M: Matrix, extra: Vector, coefficients: Vector) -> None:
    """Replace X (n×r) by X·M + extra ⊗ coefficients, in place; ``extra`` is (n,), or empty for zero."""
    n, r = X.shape
    block = np.empty((min(n, BLOCK_ROWS), r))
    for start in range(0, n, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, n)
        product = block[: stop - start]
        np.dot(X[start:stop], M, product)
        for i in range(start, stop):
            for c in range(r):
                X[i, c] = product[i - start, c]
                if extra.size > 0:
                    X[i, c] += extra[i] * coefficients[c]


@compiled_internal
def rotate_columns(X: Matrix, a: int, b: int, angle: float) -> None:
    """Rotate columns a and b of X in their plane, in place."""
    cosine, sine = np.cos(angle), np.sin(angle)
    for i in range(X.shape[0]):
        first, second = X[i, a], X[i, b]
        X[i, a] = cosine * first + sine * second
        X[i, b] = cosine * second - sine * first


@compiled_internal
def half_excess(X: Matrix, out: Matrix) -> None:
    """Write ½(XᵀX − I) to ``out``: zero up to rounding errors if X is orthonormal."""
    gram(X, X, out)
    for a in range(out.shape[0]):
        out[a, a] -= 1.0
        for b in range(out.shape[0]):
            out[a, b] *= 0.5


@compiled_internal
def subtract_product(X: Matrix, M: Matrix, Y: Matrix) -> None:
    """Subtract X·M from Y in place; X and Y are n×r, M is r×r.  Y may be X."""
    n = X.shape[0]
    block = np.empty((min(n, BLOCK_ROWS), M.shape[1]))
    for start in range(0, n, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, n)
        product = block[: stop - start]
        np.dot(X[start:stop], M, product)
        # Flat views, so that one long loop is vectorised instead of many short ones.
        flat, target = product.reshape(-1), Y[start:stop].reshape(-1)
        for k in range(flat.size):
            target[k] -= flat[k]


@compiled_internal
def advance(X: Matrix, W: Matrix, E: Matrix) -> None:
    """Replace [X, W] by [X, W]·E in place; E is 2r×2r."""
    n, r = X.shape
    size = min(n, BLOCK_ROWS)
    block, product = np.empty((size, 2 * r)), np.empty((size, 2 * r))
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


@compiled_internal
def rattle_advance(X: Matrix, W: Matrix, M: Matrix, time: float) -> None:
    """Replace W by W½ = W − XM and X by X + hW½, in place; M is r×r, h is ``time``."""
    n = X.shape[0]
    block = np.empty((min(n, BLOCK_ROWS), M.shape[1]))
    for start in range(0, n, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, n)
        product = block[: stop - start]
        np.dot(X[start:stop], M, product)
        p, x, w = product.reshape(-1), X[start:stop].reshape(-1), W[start:stop].reshape(-1)
        for k in range(p.size):
            w[k] -= p[k]
            x[k] += time * w[k]
