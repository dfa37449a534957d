"""Log densities for the tests of integrators and NUTS, made of the package's own classes.

A Gaussian likelihood seen through a diagonal matrix is −½ Σ w (x − c)² over the entries of a point.  On the Stiefel
manifold with equal weights κ, where Σ x² is constant, it is the von Mises–Fisher density exp ⟨κC, X⟩; with κ = 0 it is
uniform.  A class of the tests' own would be compiled anew in every run.
"""

import numpy as np

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.priors import Gamma
from manifill.geometry import Euclidean, LowRank, Masses, ScaledStiefel, Stiefel
from manifill.likelihoods import Gaussian, WithNoise
from manifill.problem import Model, Observations
from manifill.problem.conditional_densities import FactorGivenRest
from manifill.problem.joint_density import JointDensity
from manifill.sampling.integrators import Integrator, Leapfrog, TwoStage
from manifill.sampling.system import System, Target
from manifill.unknowns import Effects, EffectsPrior, Layout, Unknowns
from tests.geometry.manifolds import AnyManifold
from tests.problem.likelihoods import Case, noise_of


def quadratic(center: Matrix, precision: float, weights: Vector | None = None) -> FactorGivenRest:
    """Return −½ precision Σ w_l (x_il − c_il)², a weight for each column; a centre of NaN leaves its entry out."""
    center = np.atleast_2d(np.asarray(center, dtype=np.float64))
    roots = np.sqrt(np.ones(center.shape[1]) if weights is None else weights)
    rows, cols = np.nonzero(~np.isnan(center))
    cells = Observations.from_triples(rows, cols, (center * roots)[rows, cols], center.shape).by_row
    nothing = np.empty((0, center.shape[1]))  # no effects
    return FactorGivenRest(cells, Gaussian().compiled(), precision, np.diag(roots), nothing, nothing)


def anisotropic_gaussian() -> tuple[Euclidean, FactorGivenRest]:
    """Return N((1, −2, 0.5), diag(1, ¼, 4)) on R³."""
    return Euclidean(3), quadratic(np.array([[1.0, -2.0, 0.5]]), 1.0, np.array([1.0, 4.0, 0.25]))


def tilted_stiefel() -> tuple[Stiefel, FactorGivenRest]:
    """Return a density on St(5, 2) that is neither linear nor symmetric."""
    center = np.random.default_rng(1).standard_normal((5, 2))
    center[1, 0] = center[4, 1] = np.nan
    return Stiefel.of_shape(5, 2), quadratic(center, 3.0)


def tilted_by_mass() -> tuple[ScaledStiefel, FactorGivenRest]:
    """Return the same density in another metric."""
    return ScaledStiefel.with_masses(5, np.array([8.0, 20.0])), tilted_stiefel()[1]


def completion() -> tuple[LowRank, JointDensity]:
    """Return a posterior of 6×5 matrices of rank 2 with effects; first row and first column have no cells."""
    rng = np.random.default_rng(2)
    rows, cols = np.nonzero(rng.random((5, 4)) < 0.7)
    cells = Observations.from_triples(rows + 1, cols + 1, rng.standard_normal(len(rows)), (6, 5)).by_row
    of_effects, layout = EffectsPrior(0.0, 0.1, Gamma(2.0, 1.0), 1.5), Layout.whole(6, 5, 2, True, 0)
    model = Model(2, Gaussian(), 0.5, WithNoise(Gamma(2.0, 1.0)), effects=of_effects)
    masses = Masses(np.array([12.0, 30.0]), np.array([25.0, 10.0]), np.linspace(3.0, 6.0, layout.rest_size))
    of_rows, of_columns = np.bincount(rows + 1, minlength=6), np.bincount(cols + 1, minlength=5)
    manifold = LowRank.with_masses(layout, masses, of_rows.astype(float) ** 1.5, of_columns.astype(float) ** 1.5)
    return manifold, JointDensity.of(model, cells, layout)


PROBLEMS: dict[str, tuple[AnyManifold, Target]] = {
    "R^3": anisotropic_gaussian(),
    "St(5,2)": tilted_stiefel(),
    "scaled St(5,2)": tilted_by_mass(),
    "6x5 matrices": completion(),
}
INTEGRATORS: dict[str, Integrator] = {"leapfrog": Leapfrog(), "two-stage": TwoStage()}


def system_of(manifold: AnyManifold, target: Target) -> System:
    """Return the system; frames with masses have no U-turn rule, and get the one without masses."""
    if isinstance(manifold, ScaledStiefel):
        return System.of(manifold, target, Stiefel.has_turned)  # type: ignore[arg-type]
    return System.of(manifold, target)


def start(rng: Generator, manifold: AnyManifold) -> tuple[Vector, Vector]:
    """Return a random point and velocity."""
    position, velocity = manifold.random_point(rng), np.empty(manifold.dimension)
    manifold.random_velocity(rng, position, velocity)
    return position, velocity


SHAPE = (5, 4)


def point_with_effects(case: Case, s: list[float], *, weighted: bool = False) -> tuple[JointDensity, Vector]:
    """Return a posterior of 5×4 matrices with effects for a likelihood, and a point with these singular values."""
    rng, (m, n), r = np.random.default_rng(1), SHAPE, len(s)
    rows, cols = np.nonzero(rng.random(SHAPE) < 0.8)
    given = Observations.from_triples(rows, cols, rng.choice(case.values, len(rows)), SHAPE)
    prior = EffectsPrior(0.0, 0.1, Gamma(2.0, 1.5), 1.0)
    noise = noise_of(case.likelihood, Gamma(3.0, 2.0))
    model = Model(r, case.likelihood, Gamma(2.0, 1.0), noise, effects=prior)
    cells = given.by_row._replace(values=case.likelihood.encode(given.by_row.values))
    density = JointDensity.of(model, cells, Layout.whole(m, n, r, True, 0))
    if weighted:
        density = density._replace(weights=0.5 + rng.exponential(size=cells.values.size))
    U, V = (np.linalg.qr(rng.standard_normal((k, r)))[0] for k in SHAPE)
    effects = Effects(0.3, rng.standard_normal(m), rng.standard_normal(n), 1.0, 1.0)
    return density, Unknowns(U, np.array(s), V, effects, np.empty(0)).pack(density.layout)
