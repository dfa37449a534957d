"""Predictive intervals as series of draws: the probability, given a draw, that y is below the bound of an interval.

The bounds of the 90 % interval of a cell are where the average of these probabilities over all draws is 5 % and 95 %,
so their Monte Carlo errors are those of the interval.  σ itself need not mix as well: a component that explains the
residuals of a single column can be exchanged with the noise of this column, which changes X and σ, but not intervals.
The distribution of such a series over draws changes with it, from nearly constant to zeros and ones of the same
average, so it is judged by its mean alone.
"""

from typing import NamedTuple

import numpy as np
from scipy import special
from scipy.optimize import elementwise

from manifill.base.arrays import Array, IntVector, Matrix, Vector
from manifill.likelihoods import Likelihood
from manifill.posterior.cell_draws import at_cells
from manifill.posterior.draws import Draws

__all__ = ["TAIL", "CellMixture", "below_bounds"]

TAIL = 0.05  # the probability below the lower and above the upper bound

# Bounds are within so many σ of the smallest and largest location, and their probabilities are this close.
WIDEST, CLOSE = 40.0, 1e-7


class CellMixture(NamedTuple):
    """The predictive distribution of y at k cells, a mixture over D draws of normal or Student's t distributions."""

    location: Matrix  # (D, k)
    sigma: Matrix  # (D, k)
    degrees: Matrix | None  # (D, 1), or None for normal tails

    @classmethod
    def of(cls, draws: Draws, likelihood: Likelihood, rows: IntVector, cols: IntVector) -> "CellMixture":
        """Return the mixture at these cells; the likelihood must have noise."""
        location, sigma = np.empty((2, draws.chains * draws.draws, rows.size))
        degrees = np.empty((len(location), 1))
        for k, (x, parameters) in enumerate(at_cells(draws, likelihood, rows, cols)):
            location[k], sigma[k] = likelihood.mean(x), parameters["sigma"]
            degrees[k] = parameters.get("nu", np.inf)
        return cls(location, sigma, None if np.isinf(degrees).all() else degrees)

    def below(self, bound: Vector) -> Matrix:
        """Return P(y < bound) given each draw, (D, k)."""
        z = (bound - self.location) / self.sigma
        return np.asarray(special.ndtr(z) if self.degrees is None else special.stdtr(self.degrees, z))

    def quantile(self, probability: float) -> Vector:
        """Return where the average of P(y < bound) over draws is this probability, (k,)."""
        reach, cells = WIDEST * self.sigma.max(axis=0), np.arange(self.location.shape[1])
        ends = self.location.min(axis=0) - reach, self.location.max(axis=0) + reach

        def excess(bound: Vector, some: IntVector) -> Vector:
            at_cells = self._replace(location=self.location[:, some], sigma=self.sigma[:, some])
            return np.asarray(at_cells.below(bound).mean(axis=0) - probability)

        return np.asarray(elementwise.find_root(excess, ends, args=(cells,), tolerances={"fatol": CLOSE}).x)


def below_bounds(draws: Draws, likelihood: Likelihood, rows: IntVector, cols: IntVector) -> Array:
    """Return P(y < bound | draw) for both bounds at k cells, (2, chain, draw, k); the likelihood must have noise."""
    mixture = CellMixture.of(draws, likelihood, rows, cols)
    below = [mixture.below(mixture.quantile(probability)) for probability in (TAIL, 1.0 - TAIL)]
    return np.reshape(below, (2, draws.chains, draws.draws, rows.size))
