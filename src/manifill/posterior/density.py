"""The log density of observed values, whole: with the terms free of x that samplers leave out, in the data's units."""

import math
from dataclasses import dataclass

import numpy as np

from manifill.compiled import compiled
from manifill.posterior.draws import Draws
from manifill.problem import Binomial, Gaussian, Likelihood, SoftplusGaussian
from manifill.types import Array, IntVector, Vector

__all__ = ["CellDensity"]


@dataclass(frozen=True, eq=False)
class CellDensity:
    """log p(y | x, σ) of the values y at k cells, as a function of x and σ there (docs/math.md, eq. 2).

    A likelihood of one's own is taken at its word: what its log density leaves out is missing here too, the same for
    all models with this likelihood.
    """

    likelihood: Likelihood
    encoded: Vector  # (k,), y in the units of ``Likelihood.evaluate``
    left_out: Vector  # (k,), the terms free of x and σ

    @classmethod
    def of(cls, draws: Draws, likelihood: Likelihood, cols: IntVector, values: Vector) -> "CellDensity":
        """Return the density of values in the data's units, or raise a ValueError for one that cannot occur."""
        scales = np.broadcast_to(draws.column_scales, draws.shape[1])[cols]
        encoded = likelihood.encode(values / scales)
        # A density in the units of the fit, y/scale, is one in the data's after division by the scale.
        return cls(likelihood, encoded, _constant(likelihood, encoded) - np.log(scales))

    def at(self, x: Vector, sigma: Array) -> Vector:
        """Return log p(y | x, σ), (k,); ``sigma`` is a number or (k,), and of no account without noise."""
        out = np.empty(x.size)
        _evaluate(self.likelihood, self.encoded, x, out)
        if self.likelihood.has_noise:
            out /= sigma**2
            out -= np.log(sigma)
        out += self.left_out
        return out


@compiled
def _evaluate(likelihood: Likelihood, y: Vector, x: Vector, out: Vector) -> None:
    for k in range(x.size):
        out[k] = likelihood.evaluate(y[k], x[k])[0]


def _constant(likelihood: Likelihood, encoded: Vector) -> Vector:
    """Return what ``evaluate`` leaves out of the log density at unit noise."""
    if isinstance(likelihood, (Gaussian, SoftplusGaussian)):
        return np.full(encoded.size, -0.5 * math.log(2.0 * math.pi))
    if isinstance(likelihood, Binomial):
        log_factorial = np.array([math.lgamma(count + 1.0) for count in range(likelihood.trials + 1)])
        log_ways = log_factorial[-1] - log_factorial - log_factorial[::-1]  # of choosing y out of all trials
        return np.asarray(log_ways[encoded.astype(np.int64)])
    return np.zeros(encoded.size)
