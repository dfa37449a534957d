"""A normal response in place of one with another likelihood, for approximate Gibbs sweeps (docs/math.md, §8.11).

Near the present x, the log likelihood of a cell is about −½ w (y* − x)² with its curvature w and y* = x + slope / w,
as in iteratively reweighted least squares.  Sweeps with y* and w find the region in which the posterior is, from where
an exact sampler can start.  They must not fail anywhere: x is kept near the values that the data suggest, and y* is
never further from it than ``reach``.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Matrix, Vector
from manifill.kernels.cell_slopes import slopes_and_curvatures
from manifill.kernels.compressed import Compressed
from manifill.likelihoods import CompiledLikelihood
from manifill.problem.additive_fit import positive_square, variance_of

__all__ = ["Response", "WorkingResponse"]

# In standard deviations of the starting points of all cells: how far y* may be from x, and x from all of them.
REACH = 2.0

# The step of differences of slopes, as a share of the reach.
DIFFERENCE = 1e-3


class Response(NamedTuple):
    """Normal values of the cells and their weights, by row; no weights are weights of one."""

    values: Vector
    weights: Vector


class WorkingResponse(NamedTuple):
    """Makes responses for the cells of a table."""

    cells: Compressed  # by row
    likelihood: CompiledLikelihood
    reach: float
    bounds: tuple[float, float]  # of x

    @classmethod
    def around(cls, cells: Compressed, likelihood: CompiledLikelihood, x: Vector) -> "WorkingResponse":
        """Return the maker of responses, given starting points of all cells."""
        reach = REACH * float(np.sqrt(positive_square(variance_of(x), x)))
        return cls(cells, likelihood, reach, (float(x.min()) - reach, float(x.max()) + reach))

    def at(self, factors: tuple[Matrix, Matrix], weights: Vector) -> Response:
        """Return the response at the present factors, whose weights are multiplied by those of the noise."""
        x, slopes, curvatures = (np.empty(self.cells.values.size) for _ in range(3))
        difference = DIFFERENCE * self.reach
        slopes_and_curvatures(self.cells, self.likelihood, *factors, self.bounds, difference, x, slopes, curvatures)
        slopes[~np.isfinite(slopes)] = 0.0
        curvatures[~np.isfinite(curvatures)] = 0.0
        smallest = np.maximum(np.abs(slopes) / self.reach, np.finfo(np.float64).tiny)
        curvatures = np.maximum(curvatures, smallest)
        return Response(x + slopes / curvatures, curvatures * weights if weights.size else curvatures)
