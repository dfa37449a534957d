"""Mean, row and column effects: x_ij = μ + a_i + b_j + (U diag(s) Vᵀ)_ij.

As factors they are two more columns: [U diag(s), μ + a, 1] · [V, 1, b]ᵀ.  So every pass over the cells, and every
prediction, treats a model with effects as one of rank r + 2.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Array, Generator, Matrix, Vector
from manifill.base.priors import Gamma, draw_given
from manifill.base.variables import Variable

__all__ = ["Effects", "EffectsPrior", "draw_levels", "draw_precision", "left_columns", "right_columns"]


class EffectsPrior(NamedTuple):
    """μ ~ N(mean, 1/mean_precision), a_i ~ N(0, 1/row), b_j ~ N(0, 1/column); a Gamma prior: learned."""

    mean: float
    mean_precision: float
    row: float | Gamma
    column: float | Gamma


class Effects(NamedTuple):
    """Effects and their precisions, at one point."""

    mean: float  # μ
    row: Vector  # a, (m,)
    column: Vector  # b, (n,)
    row_precision: float
    column_precision: float

    @classmethod
    def none(cls) -> "Effects":
        """Return the effects of a model that has none."""
        return cls(0.0, np.empty(0), np.empty(0), 1.0, 1.0)

    @property
    def exist(self) -> bool:
        """Whether the model has effects."""
        return self.row.size > 0

    @staticmethod
    def variables(rows: int, columns: int) -> tuple[Variable, ...]:
        """Return the variables of a draw that belong to effects."""
        return (
            Variable("mu", (), ()),
            Variable("row_effect", ("row",), (rows,)),
            Variable("column_effect", ("column",), (columns,)),
            Variable("row_effect_sd", (), ()),
            Variable("column_effect_sd", (), ()),
        )

    def values(self) -> dict[str, Array]:
        """Return the values of ``variables``."""
        return {
            "mu": np.asarray(self.mean),
            "row_effect": self.row,
            "column_effect": self.column,
            "row_effect_sd": np.asarray(self.row_precision**-0.5),
            "column_effect_sd": np.asarray(self.column_precision**-0.5),
        }

    def centered(self) -> "Effects":
        """Return the same sums μ + a_i + b_j with a and b of mean zero."""
        a, b = self.row.mean(), self.column.mean()
        return self._replace(mean=float(self.mean + a + b), row=self.row - a, column=self.column - b)


def left_columns(effects: Effects) -> Matrix:
    """Return the columns [μ + a, 1] to append to U diag(s), (m, 2)."""
    return np.stack([effects.mean + effects.row, np.ones(effects.row.size)], axis=1)


def right_columns(effects: Effects) -> Matrix:
    """Return the columns [1, b] to append to V, (n, 2)."""
    return np.stack([np.ones(effects.column.size), effects.column], axis=1)


def draw_precision(rng: Generator, prior: float | Gamma, effects: Vector) -> float:
    """Draw the precision of row or column effects given them."""
    return draw_given(rng, prior, 0.5 * effects.size, 0.5 * float(effects @ effects))


def draw_levels(rng: Generator, prior: EffectsPrior, effects: Effects) -> Effects:
    """Draw c and e in μ + c + e, a − c, b − e given the precisions: normal, and independent of the data."""
    m, n = effects.row.size, effects.column.size
    of_mean, of_row, of_column = prior.mean_precision, effects.row_precision, effects.column_precision
    precision = np.array([[of_row * m + of_mean, of_mean], [of_mean, of_column * n + of_mean]])
    pull = of_mean * (effects.mean - prior.mean)
    target = np.array([of_row * effects.row.sum() - pull, of_column * effects.column.sum() - pull])
    root = np.linalg.cholesky(precision)
    c, e = np.linalg.solve(root.T, np.linalg.solve(root, target) + rng.standard_normal(2))
    return effects._replace(mean=float(effects.mean + c + e), row=effects.row - c, column=effects.column - e)
