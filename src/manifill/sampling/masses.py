"""The masses of the joint sampler, learned in warm-up.

The mass of a column is the curvature of the log density along it: that of the data, and that of the manifold, which is
the number of rows.  By Fisher's identity the data's curvature is the mean square of their gradient over the posterior,
so that is what is averaged, for every likelihood (docs/math.md, §8).
"""

from typing import NamedTuple

import numpy as np

from manifill.types import IntVector, Matrix, Vector

__all__ = ["GradientSquares", "Masses", "squares_of", "windows"]

# Ends of the windows after which masses are learned anew, as shares of warm-up.  Early ones are short, since a chain
# may still be on its way; the rest of warm-up is left to the step size.
WINDOW_ENDS = (0.04, 0.1, 0.2, 0.4, 0.7)

# Two columns may exchange places in a run where both wander this many standard deviations; they then share a mass.
EXCHANGE = 2.0


def windows(warmup: int) -> frozenset[int]:
    """Return after how many iterations of warm-up the masses change."""
    return frozenset(end for end in (round(share * warmup) for share in WINDOW_ENDS) if end >= 5)


class Masses(NamedTuple):
    """Masses of U's and V's columns and of the rest: s, and μ, a, b where there are effects."""

    left: Vector  # (r,)
    right: Vector  # (r,)
    rest: Vector


class GradientSquares(NamedTuple):
    """Sums over the iterations of a window."""

    iterations: int
    columns: Vector  # (r,): squares of the gradient in U and V, averaged over rows
    s_squares: Vector  # (r,)
    log_s: Vector
    log_s_squares: Vector
    row: float  # squares of the gradient in a, averaged over rows
    column: float
    log_row_precision: float  # of the effects' prior
    log_column_precision: float

    @classmethod
    def none(cls, rank: int) -> "GradientSquares":
        """Return the sums over no iteration."""
        return cls(0, np.zeros(rank), np.zeros(rank), np.zeros(rank), np.zeros(rank), 0.0, 0.0, 0.0, 0.0)

    def plus(self, other: "GradientSquares") -> "GradientSquares":
        """Return the sums over the iterations of both."""
        return GradientSquares(
            self.iterations + other.iterations,
            self.columns + other.columns,
            self.s_squares + other.s_squares,
            self.log_s + other.log_s,
            self.log_s_squares + other.log_s_squares,
            self.row + other.row,
            self.column + other.column,
            self.log_row_precision + other.log_row_precision,
            self.log_column_precision + other.log_column_precision,
        )

    def masses(self, rows: IntVector, columns: IntVector, *, effects: bool) -> Masses:
        """Return the masses, given the number of cells in each row and column."""
        c = self._pooled(self.columns / self.iterations + 1e-12)  # no unit, and never zero
        s_squares = self._pooled(self.s_squares / self.iterations)
        rest = [(c + 1.0) / s_squares]
        if effects:
            a = self._masses_of_effects(self.row, self.log_row_precision, rows)
            b = self._masses_of_effects(self.column, self.log_column_precision, columns)
            rest += [np.array([a.sum()]), a, b]
        return Masses(c + len(rows), c + len(columns), np.concatenate(rest))

    def _masses_of_effects(self, squares: float, log_precision: float, cells: IntVector) -> Vector:
        """Return what the prior holds, and in proportion to the cells of a line the rest of the mean square."""
        prior = np.exp(log_precision / self.iterations)
        return np.asarray(prior + max(squares / self.iterations - prior, 0.0) * cells / cells.mean())

    def _pooled(self, squares: Vector) -> Vector:
        """Return the squares a column, averaged (in their logarithm) over columns that may exchange their places."""
        mean = self.log_s / self.iterations
        variance = np.maximum(self.log_s_squares / self.iterations - mean**2, 1e-12)
        reach = 2.0 * EXCHANGE**2 * np.minimum(variance[:, None], variance)
        weights = np.exp(-0.5 * (mean[:, None] - mean) ** 2 / reach)
        return np.asarray(np.exp(weights @ np.log(squares) / weights.sum(axis=1)))


def squares_of(gradient: Vector, U: Matrix, V: Matrix, s: Vector, prior: tuple[float, float]) -> GradientSquares:
    """Return the sums for one point, from the flat gradient there and the precisions of the effects' prior."""
    (m, r), n, s = U.shape, len(V), np.maximum(s, np.finfo(np.float64).tiny)
    in_U, in_V = gradient[: m * r].reshape(m, r), gradient[m * r : (m + n) * r].reshape(n, r)
    effects = gradient[(m + n + 1) * r :] if gradient.size > (m + n + 1) * r else np.zeros(1 + m + n)
    return GradientSquares(
        iterations=1,
        columns=0.5 * (np.mean(in_U**2, axis=0) + np.mean(in_V**2, axis=0)),
        s_squares=s**2,
        log_s=np.log(s),
        log_s_squares=np.log(s) ** 2,
        row=float(np.mean(effects[1 : 1 + m] ** 2)),
        column=float(np.mean(effects[1 + m :] ** 2)),
        log_row_precision=float(np.log(prior[0])),
        log_column_precision=float(np.log(prior[1])),
    )
