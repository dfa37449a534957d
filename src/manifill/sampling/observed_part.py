"""Rows and columns with cells: the part of a table that all moves and all draws of shared parameters are about.

Effects, noise factors and rows of A and B without cells depend on the rest only through the parameters of their priors.
If they took part in the draws of these parameters, a chain would move the more slowly the more of them there are: their
values fix a scale that they were themselves drawn with.  So they are integrated out, and drawn last (docs/math.md,
§8.1).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Array, Generator, IntVector, Matrix, Vector
from manifill.likelihoods import NoiseState
from manifill.sampling.data import Data
from manifill.unknowns import Effects

__all__ = ["ObservedPart", "Side"]


class Side(NamedTuple):
    """The rows (or the columns) with cells, among all."""

    observed: IntVector  # ascending
    size: int  # of all

    def take(self, values: Array) -> Array:
        """Return the values of those with cells."""
        return values if self.observed.size == self.size else values[self.observed]

    def completed(self, values: Array, draw: Callable[[int], Array]) -> Array:
        """Return the values of all, given those with cells; ``draw`` returns as many others as it is asked for."""
        if self.observed.size == self.size:
            return values
        out, is_empty = np.empty((self.size, *values.shape[1:])), np.ones(self.size, dtype=bool)
        is_empty[self.observed] = False
        out[self.observed], out[is_empty] = values, draw(self.size - self.observed.size)
        return out


class ObservedPart(NamedTuple):
    """The rows and the columns with cells, and the table of these alone."""

    rows: Side
    columns: Side
    data: Data

    @classmethod
    def of(cls, data: Data) -> "ObservedPart":
        """Return the part of a table."""
        rows, columns = (Side(np.flatnonzero(counts), counts.size) for counts in data.cells_of)
        return cls(rows, columns, data.restricted(rows.observed, columns.observed))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns with cells."""
        return self.rows.observed.size, self.columns.observed.size

    def factors(self, left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
        """Return the rows of both factors that belong to it."""
        return self.rows.take(left), self.columns.take(right)

    def effects(self, effects: Effects) -> Effects:
        """Return the effects that belong to it."""
        if not effects.exist:
            return effects
        return effects._replace(row=self.rows.take(effects.row), column=self.columns.take(effects.column))

    def noise(self, noise: NoiseState) -> NoiseState:
        """Return the noise with the factors that belong to it."""
        row, column = (
            side.take(factors) if factors.size else factors
            for side, factors in ((self.rows, noise.row), (self.columns, noise.column))
        )
        return noise._replace(row=row, column=column)

    def completed_effects(self, rng: Generator, effects: Effects) -> Effects:
        """Return the effects of all rows and columns: those without cells are N(0, 1/κ)."""
        if not effects.exist:
            return effects
        row = _completed_normal(rng, self.rows, effects.row, np.asarray(effects.row_precision))
        column = _completed_normal(rng, self.columns, effects.column, np.asarray(effects.column_precision))
        return effects._replace(row=row, column=column)

    def completed_factors(
        self, rng: Generator, A: Matrix, B: Matrix, taus: tuple[Vector, Vector]
    ) -> tuple[Matrix, Matrix]:
        """Return A and B with all their rows: those without cells have entries N(0, 1/τ)."""
        return _completed_normal(rng, self.rows, A, taus[0]), _completed_normal(rng, self.columns, B, taus[1])

    def completed_noise(self, rng: Generator, noise: NoiseState) -> NoiseState:
        """Return the noise with the factors of all rows and columns: those without cells are Gamma(a, a)."""
        row = _completed_gamma(rng, self.rows, noise.row, noise.row_shape)
        column = _completed_gamma(rng, self.columns, noise.column, noise.column_shape)
        return noise._replace(row=row, column=column)


def _completed_normal(rng: Generator, side: Side, values: Array, precision: Array) -> Array:
    """Return the values of all rows; those without cells are normal, of mean zero and this precision per entry."""
    return side.completed(values, lambda count: rng.standard_normal((count, *values.shape[1:])) / np.sqrt(precision))


def _completed_gamma(rng: Generator, side: Side, factors: Vector, shape: float) -> Vector:
    """Return the noise factors of all rows, if the model has any; those without cells are Gamma(shape, shape)."""
    return side.completed(factors, lambda count: rng.gamma(shape, 1.0 / shape, count)) if factors.size else factors
