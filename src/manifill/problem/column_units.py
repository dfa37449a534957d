"""How the values of a column are related to those of the model: in the same unit, divided by a scale, or transformed.

The transform of Jones and Pewsey (2009), z = sinh(δ asinh((y − ξ)/η) − ε), makes skewed and heavy-tailed columns
nearly normal (docs/math.md, §2.7).  It increases strictly on the whole line, and ε = 0, δ = 1 is division by η.  A
normal z has a y with moments of every order, since y grows like a power of z.  In a column with gross outliers, z grows
like a logarithm beyond a limit.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from manifill.base.arrays import Array, IntVector, Vector
from manifill.problem.observations import Observations

__all__ = ["NO_LIMIT", "SAME_UNITS", "ColumnUnits"]

# A z so far beyond a limit is as far as any: squares of y can still be computed, however heavy the tails are.
LARGEST_LOGARITHM = 100.0

NO_LIMIT = 1e300  # which no value reaches; unlike infinity, JSON has it

# Gauss–Hermite quadrature for moments of y given a normal z: exact for polynomials in z up to degree 13.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


class ColumnUnits(NamedTuple):
    """ξ, η, ε, δ and ℓ of each column, (n,) each, or numbers if they are the same for all columns."""

    center: Array  # ξ
    scale: Array  # η
    skewness: Array  # ε; positive if the larger values are farther apart
    tail_weight: Array  # δ; below 1 if the tails are heavy
    limit: Array  # ℓ: beyond it, z is a logarithm

    @classmethod
    def divided_by(cls, scales: Vector | float) -> "ColumnUnits":
        """Return the units of columns that are divided by scales, (n,) or a number."""
        found = np.asarray(scales, dtype=np.float64)
        zeros, ones = np.zeros_like(found), np.ones_like(found)
        return cls(zeros, found, zeros, ones, np.full_like(found, NO_LIMIT))

    @classmethod
    def of_attributes(cls, attributes: Mapping[str, Any]) -> "ColumnUnits":
        """Return the units that a run stores."""
        stored = attributes.get("column_transform")
        if stored is not None:
            stored = {"limit": [NO_LIMIT] * len(stored["scale"])} | stored  # earlier runs have none
            return cls(*(np.array(stored[name], dtype=np.float64) for name in cls._fields))
        return cls.divided_by(np.array(attributes["column_scales"])) if "column_scales" in attributes else SAME_UNITS

    def to_attributes(self) -> dict[str, Any]:
        """Return what a run stores; ``column_scales`` are the spreads that errors of the columns are measured in."""
        if not self.scale.ndim:
            return {}
        found: dict[str, Any] = {"column_scales": self.spreads.tolist()}
        if not self.is_linear or np.any(self.center):
            found["column_transform"] = {name: values.tolist() for name, values in self._asdict().items()}
        return found

    @property
    def is_linear(self) -> bool:
        """Whether no column is transformed."""
        return not (np.any(self.skewness) or np.any(self.tail_weight != 1.0) or self._is_limited)

    @property
    def _is_limited(self) -> bool:
        return bool(np.any(self.limit < NO_LIMIT))

    @property
    def spreads(self) -> Array:
        """Half the distance between the values at z = −1 and z = 1; the scale if a column is not transformed."""
        if self.is_linear:
            return self.scale
        # Without the centre, next to which a small spread would vanish.
        above, below = (np.sinh((np.arcsinh(z) + self.skewness) / self.tail_weight) for z in (1.0, -1.0))
        return np.asarray(0.5 * self.scale * (above - below))

    def at(self, cols: IntVector) -> "ColumnUnits":
        """Return the units of these columns."""
        return ColumnUnits(*(field[cols] if field.ndim else field for field in self))

    def to_model(self, y: Array) -> Array:
        """Return z; columns are the last dimension of ``y``."""
        w = (y - self.center) / self.scale
        return w if self.is_linear else self._limited(np.sinh(self.tail_weight * np.arcsinh(w) - self.skewness))

    def to_data(self, z: Array | float) -> Array:
        """Return y: undo ``to_model``."""
        if self.is_linear:
            return np.asarray(self.center + self.scale * z)
        w = np.sinh((np.arcsinh(self._unlimited(z)) + self.skewness) / self.tail_weight)
        return np.asarray(self.center + self.scale * w)

    def _limited(self, z: Array) -> Array:
        """Return z, and beyond ±ℓ the sign of z times ℓ + log(1 + |z| − ℓ)."""
        if not self._is_limited:
            return np.asarray(z)
        beyond = np.maximum(np.abs(z) - self.limit, 0.0)
        return np.asarray(z - np.sign(z) * (beyond - np.log1p(beyond)))

    def _unlimited(self, z: Array | float) -> Array:
        """Undo ``_limited``."""
        if not self._is_limited:
            return np.asarray(z)
        beyond = np.clip(np.abs(z) - self.limit, 0.0, LARGEST_LOGARITHM)
        return np.asarray(z + np.sign(z) * (np.expm1(beyond) - beyond))

    def log_slopes(self, y: Array) -> Array:
        """Return log dz/dy."""
        constant = np.log(self.tail_weight / self.scale)
        if self.is_linear:
            return np.asarray(np.broadcast_to(constant, np.shape(y)))
        w = (y - self.center) / self.scale
        u = np.abs(self.tail_weight * np.arcsinh(w) - self.skewness)
        log_cosh = u + np.log1p(np.exp(-2.0 * u)) - np.log(2.0)
        found = constant + log_cosh - np.log(np.hypot(1.0, w))
        return np.asarray(found - np.log1p(np.maximum(np.sinh(u) - self.limit, 0.0)) if self._is_limited else found)

    def moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return mean and variance of y from those of z, which must be normal if a column is transformed."""
        if self.is_linear:
            return self.center + self.scale * mean, np.square(self.scale) * variance
        sd, average = np.sqrt(variance), np.zeros(np.shape(mean))
        values = [self.to_data(mean + node * sd) for node in NODES]
        for weight, value in zip(WEIGHTS, values, strict=True):
            average += weight * value
        spread = np.zeros_like(average)
        for weight, value in zip(WEIGHTS, values, strict=True):
            spread += weight * np.square(value - average)
        return average, spread

    def observations(self, given: Observations) -> Observations:
        """Return observations in the units of the model."""
        _, cols, values = given.triples()
        return given.with_values(self.at(cols).to_model(values))


SAME_UNITS = ColumnUnits.divided_by(1.0)
