"""What methods predict for the test cells of a split: points, mixtures or classes; and how these are scored."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from accuracy import scores
from accuracy.coverage import coverage
from accuracy.tables import Split
from manifill.base.arrays import Array, Matrix, Vector

CELLS_AT_ONCE = 4000


class Units(NamedTuple):
    """The method saw (y − shift) / scale at each test cell, (k,)."""

    shift: Vector
    scale: Vector


@dataclass(frozen=True, eq=False)
class Scored:
    """Means in the data's units, and scores in units of the columns; None for a method that predicts points."""

    mean: Vector  # (k,)
    log_score: float | None = None
    crps: float | None = None
    position: Vector | None = None  # (k,): F(y)
    notes: dict[str, Any] = field(default_factory=dict)  # the verdict, among others

    def record(self, split: Split) -> dict[str, Any]:
        """Return the figures to be stored."""
        error = (self.mean - split.test.y) / split.test_units
        figures: dict[str, Any] = {
            "rmse": float(np.sqrt(np.mean(error**2))),
            "mae": float(np.mean(np.abs(error))),
            "median_error": float(np.median(np.abs(error))),
            "log_score": self.log_score,
            "crps": self.crps,
        }
        if self.position is not None:
            found = coverage(self.position, split.test.cols)
            figures |= {"coverage": found.pooled, "failed_columns": found.failed, "columns": found.columns}
            figures["worst_column"] = found.worst
        return figures | self.notes


class Prediction(Protocol):
    """The result of a method for the test cells, in the units that it saw."""

    def scored(self, split: Split, units: Units) -> Scored:
        """Return the scores in the units of the columns."""


@dataclass(frozen=True, eq=False)
class Points:
    """Predictions without a distribution."""

    mean: Vector  # (k,)

    def scored(self, split: Split, units: Units) -> Scored:
        return Scored(units.shift + units.scale * self.mean)


@dataclass(frozen=True, eq=False)
class Mixture:
    """An even mixture of normal distributions for each cell."""

    means: Array  # (T, k)
    sds: Array  # (T, k), or (T, 1) if the cells share them
    point: Vector  # (k,), the mean

    def scored(self, split: Split, units: Units) -> Scored:
        log_score = scores.mixture_log_mass if split.stars else scores.mixture_log_density
        functions = log_score, scores.mixture_crps, scores.mixture_position
        sds = np.broadcast_to(self.sds, self.means.shape)
        parts = []
        for first in range(0, split.test.y.size, CELLS_AT_ONCE):
            part = slice(first, first + CELLS_AT_ONCE)
            # y = shift + scale · z, all in units of the column.
            unit = split.test_units[part]
            shift, scale = units.shift[part] / unit, units.scale[part] / unit
            arguments = shift + scale * self.means[:, part], scale * sds[:, part], split.test.y[part] / unit
            parts.append([function(*arguments) for function in functions])
        log_scores, crps, position = (np.concatenate(figures) for figures in zip(*parts, strict=True))
        mean = units.shift + units.scale * self.point
        return Scored(mean, float(np.mean(log_scores)), float(np.mean(crps)), position)


@dataclass(frozen=True, eq=False)
class Classes:
    """Probabilities of the ten stars."""

    probabilities: Matrix  # (k, 10)

    def scored(self, split: Split, units: Units) -> Scored:
        given = self.probabilities, split.test.y
        return Scored(
            self.probabilities @ scores.STARS,
            float(np.mean(scores.class_log_mass(*given))),
            float(np.mean(scores.class_crps(*given))),
            scores.class_position(np.random.default_rng(0), *given),
            {"classes": True},
        )
