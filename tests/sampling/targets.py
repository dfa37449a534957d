"""Log densities for the tests of leapfrog and NUTS, made of the package's own classes.

A Gaussian likelihood seen through a diagonal matrix is −½ Σ w (x − c)² over the entries of a point.  On the Stiefel
manifold with equal weights κ, where Σ x² is constant, it is the von Mises–Fisher density exp ⟨κC, X⟩; with κ = 0 it is
uniform.  A class of the tests' own would be compiled anew in every run.
"""

import numpy as np

from manifill.geometry import Euclidean, Manifold, Stiefel
from manifill.problem import Gaussian, Observations
from manifill.problem.conditionals import FactorGivenRest
from manifill.types import Generator, Matrix, Vector


def quadratic(center: Matrix, precision: float, weights: Vector | None = None) -> FactorGivenRest:
    """Return −½ precision Σ w_l (x_il − c_il)², a weight for each column; a centre of NaN leaves its entry out."""
    center = np.atleast_2d(np.asarray(center, dtype=np.float64))
    roots = np.sqrt(np.ones(center.shape[1]) if weights is None else weights)
    rows, cols = np.nonzero(~np.isnan(center))
    cells = Observations.from_triples(rows, cols, (center * roots)[rows, cols], center.shape).by_row
    return FactorGivenRest(cells, Gaussian(), precision, np.diag(roots))


def anisotropic_gaussian() -> tuple[Euclidean, FactorGivenRest]:
    """Return N((1, −2, 0.5), diag(1, ¼, 4)) on R³."""
    return Euclidean(3), quadratic([[1.0, -2.0, 0.5]], 1.0, np.array([1.0, 4.0, 0.25]))


def tilted_stiefel() -> tuple[Stiefel, FactorGivenRest]:
    """Return a density on St(5, 2) that is neither linear nor symmetric."""
    center = np.random.default_rng(1).standard_normal((5, 2))
    center[1, 0] = center[4, 1] = np.nan
    return Stiefel.of_shape(5, 2), quadratic(center, 3.0)


PROBLEMS = {"R^3": anisotropic_gaussian(), "St(5,2)": tilted_stiefel()}


def start(rng: Generator, manifold: Manifold) -> tuple[Vector, Vector]:
    """Return a random point and velocity."""
    position, velocity = manifold.random_point(rng), np.empty(manifold.dimension)
    manifold.random_velocity(rng, position, velocity)
    return position, velocity
