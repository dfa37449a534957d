"""Compiled passes over the observed cells: the only code whose cost grows with their number."""

import numpy as np

from manifill.compiled import compiled
from manifill.problem.likelihoods import Likelihood
from manifill.problem.observations import Compressed
from manifill.types import Matrix, Vector

__all__ = ["component_gram", "factor_gradient", "log_likelihood", "scale_columns"]


@compiled
def factor_gradient(
    cells: Compressed, likelihood: Likelihood, precision: float, left: Matrix, right: Matrix, out: Matrix
) -> float:
    """Return precision · Σ log p(y | x) over cells with x = left_i · right_j, and write its gradient in ``left``.

    ``left`` and ``out`` have a row for each line of ``cells``, ``right`` one for each of the other index.  Cells are
    taken four at a time: the four inner products then share the loads of ``left``, and the four updates those of
    ``out`` (docs/math.md, eq. 6).
    """
    lines, r = left.shape
    indices, values = cells.indices, cells.values
    total = 0.0
    for i in range(lines):
        for c in range(r):
            out[i, c] = 0.0
        begin, end = cells.starts[i], cells.starts[i + 1]
        whole = begin + (end - begin) // 4 * 4
        for k in range(begin, whole, 4):
            j0, j1, j2, j3 = indices[k], indices[k + 1], indices[k + 2], indices[k + 3]
            x0, x1, x2, x3 = 0.0, 0.0, 0.0, 0.0
            for c in range(r):
                a = left[i, c]
                x0 += a * right[j0, c]
                x1 += a * right[j1, c]
                x2 += a * right[j2, c]
                x3 += a * right[j3, c]
            value0, slope0 = likelihood.evaluate(values[k], x0)
            value1, slope1 = likelihood.evaluate(values[k + 1], x1)
            value2, slope2 = likelihood.evaluate(values[k + 2], x2)
            value3, slope3 = likelihood.evaluate(values[k + 3], x3)
            total += (value0 + value1) + (value2 + value3)
            for c in range(r):
                first = slope0 * right[j0, c] + slope1 * right[j1, c]
                second = slope2 * right[j2, c] + slope3 * right[j3, c]
                out[i, c] += first + second
        for k in range(whole, end):
            j, x = indices[k], 0.0
            for c in range(r):
                x += left[i, c] * right[j, c]
            value, slope = likelihood.evaluate(values[k], x)
            total += value
            for c in range(r):
                out[i, c] += slope * right[j, c]
        for c in range(r):
            out[i, c] *= precision
    return precision * total


@compiled
def log_likelihood(cells: Compressed, likelihood: Likelihood, left: Matrix, right: Matrix) -> float:
    """Return Σ log p(y | x) at unit noise, x = left_i · right_j; for a likelihood with noise this is −½ SSE."""
    lines, r = left.shape
    total = 0.0
    for i in range(lines):
        for k in range(cells.starts[i], cells.starts[i + 1]):
            j, x = cells.indices[k], 0.0
            for c in range(r):
                x += left[i, c] * right[j, c]
            total += likelihood.evaluate(cells.values[k], x)[0]
    return total


@compiled
def scale_columns(factor: Matrix, scales: Vector, out: Matrix) -> None:
    """Write factor · diag(scales) to ``out``."""
    for i in range(factor.shape[0]):
        for c in range(factor.shape[1]):
            out[i, c] = factor[i, c] * scales[c]


@compiled
def component_gram(
    cells: Compressed, left: Matrix, right: Matrix, scales: Vector, gram: Matrix, moments: Vector
) -> None:
    """Write MᵀM and Mᵀ(y − M·scales), M the matrix with a row left_i ∘ right_j for each cell (docs/math.md, eq. 12)."""
    lines, r = left.shape
    line_gram = np.empty((r, r))
    line_moments = np.empty(r)
    moments[:] = 0.0
    gram[:, :] = 0.0
    for i in range(lines):
        line_moments[:] = 0.0
        line_gram[:, :] = 0.0
        for k in range(cells.starts[i], cells.starts[i + 1]):
            j, x = cells.indices[k], 0.0
            for a in range(r):
                x += left[i, a] * scales[a] * right[j, a]
            residual = cells.values[k] - x
            for a in range(r):
                v = right[j, a]
                line_moments[a] += residual * v
                for b in range(r):
                    line_gram[a, b] += v * right[j, b]
        for a in range(r):
            u = left[i, a]
            moments[a] += u * line_moments[a]
            for b in range(r):
                gram[a, b] += u * left[i, b] * line_gram[a, b]
