"""The masses of the joint sampler, learned in warm-up.

The mass of a column is the curvature of the log density along it: that of the likelihood plus that of the manifold,
which is the number of rows.  By Fisher's identity the curvature of the likelihood is the posterior mean of its squared
gradient.  That mean is estimated, for every likelihood (docs/math.md, §8).
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import IntVector, Vector
from manifill.geometry import Masses
from manifill.unknowns import Layout, Unknowns, Views

__all__ = ["GradientSquares"]

# Components may swap during a run if their log s wander by this many standard deviations; their masses are averaged.
EXCHANGE = 2.0


class GradientSquares(NamedTuple):
    """Sums over the iterations of a window."""

    iterations: int
    columns: Vector  # (r,), by rank of s, as all others: squares of the gradient in U and V, averaged over rows
    s_squares: Vector  # (r,)
    log_s: Vector
    log_s_squares: Vector
    row: float  # squares of the gradient in a, averaged over rows
    column: float
    log_row_precision: float  # of the effects' prior
    log_column_precision: float
    coordinates: Vector  # (k,): squares of the gradient in the likelihood's coordinates

    @classmethod
    def none(cls, layout: Layout) -> "GradientSquares":
        """Return the sums over no iteration."""
        r = layout.rank
        sums = np.zeros(r), np.zeros(r), np.zeros(r), np.zeros(r)
        return cls(0, *sums, 0.0, 0.0, 0.0, 0.0, np.zeros(layout.coordinates))

    @classmethod
    def of(cls, gradient: Views, unknowns: Unknowns) -> "GradientSquares":
        """Return the sums for one point, from the gradient there."""
        order = np.argsort(-unknowns.s, kind="stable")
        s, effects = np.maximum(unknowns.s[order], np.finfo(np.float64).tiny), unknowns.effects
        return cls(
            iterations=1,
            columns=0.5 * (np.mean(gradient.U**2, axis=0) + np.mean(gradient.V**2, axis=0))[order],
            s_squares=s**2,
            log_s=np.log(s),
            log_s_squares=np.log(s) ** 2,
            row=float(np.mean(gradient.row**2)) if effects.exist else 0.0,
            column=float(np.mean(gradient.column**2)) if effects.exist else 0.0,
            log_row_precision=float(np.log(effects.row_precision)),
            log_column_precision=float(np.log(effects.column_precision)),
            coordinates=gradient.coordinates**2,
        )

    def update(self, other: "GradientSquares") -> "GradientSquares":
        """Return the sums over the iterations of both."""
        return GradientSquares(*(mine + more for mine, more in zip(self, other, strict=True)))  # type: ignore[operator]

    def masses(self, layout: Layout, rows: IntVector, columns: IntVector) -> Masses:
        """Return the masses, given the number of cells in each row and column."""
        c = self._pooled(self.columns / self.iterations + 1e-12)  # dimensionless, and never zero
        s_squares = self._pooled(self.s_squares / self.iterations)
        rest = [(c + 1.0) / s_squares]
        if layout.has_effects:
            a = self._masses_of_effects(self.row, self.log_row_precision, rows[layout.effect_rows])
            b = self._masses_of_effects(self.column, self.log_column_precision, columns[layout.effect_columns])
            rest += [np.array([a.sum()]), a, b]
        rest.append(1.0 + self.coordinates / self.iterations)  # the curvature of the prior is one
        return Masses(c + len(rows), c + len(columns), np.concatenate(rest))

    @property
    def floor(self) -> float:
        """The square of a singular value for which the likelihood has the curvature of the prior, which is one."""
        return float(self.s_squares.sum() / (self.columns.sum() + 1e-12 * self.iterations))

    def _masses_of_effects(self, squares: float, log_precision: float, cells: IntVector) -> Vector:
        """Return the prior precision plus the excess mean square, in proportion to the cells per row (or column)."""
        prior = np.exp(log_precision / self.iterations)
        return np.asarray(prior + max(squares / self.iterations - prior, 0.0) * cells / cells.mean())

    def _pooled(self, squares: Vector) -> Vector:
        """Return the squares per column, geometrically averaged over columns that may swap."""
        mean = self.log_s / self.iterations
        variance = np.maximum(self.log_s_squares / self.iterations - mean**2, 1e-12)
        reach = 2.0 * EXCHANGE**2 * np.minimum(variance[:, None], variance)
        weights = np.exp(-0.5 * (mean[:, None] - mean) ** 2 / reach)
        return np.asarray(np.exp(weights @ np.log(squares) / weights.sum(axis=1)))
