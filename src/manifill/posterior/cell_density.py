"""The normalised log density of observed values, in the data's units; samplers omit terms that are constant in x."""

from dataclasses import dataclass

import numpy as np

from manifill.base.arrays import IntVector, Vector
from manifill.likelihoods import Evaluation, Likelihood, Parameters
from manifill.likelihoods.likelihood import evaluate_values
from manifill.posterior.draws import Draws

__all__ = ["CellDensity"]


@dataclass(frozen=True, eq=False)
class CellDensity:
    """log p(y | x, σ) of the values y at k cells, as a function of x and σ there (docs/math.md, eq. 2).

    Terms that a custom likelihood omits from its log density are missing here too; they are equal for all models with
    it.
    """

    likelihood: Likelihood
    encoded: Vector  # (k,), y in the units of ``Likelihood.evaluate``
    left_out: Vector  # (k,), the terms that do not depend on x or σ

    @classmethod
    def of(cls, draws: Draws, likelihood: Likelihood, cols: IntVector, values: Vector) -> "CellDensity":
        """Return the density of values in the data's units, or raise a ValueError if a value is impossible."""
        units = draws.column_units.at(cols)
        encoded = likelihood.encode(units.to_model(values))
        # The density of y is that of the model's value z times dz/dy.
        return cls(likelihood, encoded, likelihood.normalizer(encoded) + units.log_slopes(values))

    def at(self, x: Vector, parameters: Parameters) -> Vector:
        """Return log p(y | x, parameters), (k,); parameters are numbers or (k,)."""
        compiled = self.likelihood.compiled(parameters)
        out = Evaluation(np.empty(x.size), np.empty(x.size), np.empty((self.likelihood.coordinates, x.size)))
        evaluate_values(compiled, self.encoded, x, out)
        return self.likelihood.at_noise(out.log_density, parameters) + self.left_out
