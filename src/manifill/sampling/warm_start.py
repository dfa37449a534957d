"""Starting points of chains: the posterior mode, perturbed at random by about one standard deviation."""

import numpy as np

from manifill.base.arrays import Generator, IntVector, Matrix, Vector
from manifill.map_estimation.estimate import MapEstimate
from manifill.map_estimation.search import find_mode, with_rank
from manifill.problem import Model, Observations
from manifill.unknowns import Effects, Unknowns

__all__ = ["warm_start"]

# The largest standard deviation of the perturbation of log s, reached by components that the data hardly determine.
LARGEST_SHIFT = 0.5


def warm_start(rng: Generator, observations: Observations, model: Model) -> Unknowns:
    """Return a coarse mode of the model's rank, perturbed at random in proportion to its uncertainty."""
    effects = model.effects is not None
    mode = find_mode(rng, observations, model.likelihood, model.rank, effects=effects)
    mode = with_rank(rng, mode, model.rank)
    m, n = observations.shape
    # The curvature of the data along a column of unit length, as if the cells were spread evenly.
    curvature = observations.size / (m * n) / mode.sigma**2 * mode.s**2
    shift = np.minimum(1.0 / np.sqrt(curvature + 1.0), LARGEST_SHIFT)
    return Unknowns(
        U=_moved(rng, mode.U, curvature),
        s=mode.s * np.exp(shift * rng.standard_normal(mode.s.size)),
        V=_moved(rng, mode.V, curvature),
        effects=_moved_effects(rng, mode, observations) if effects else Effects.none(),
        coordinates=np.zeros(model.likelihood.coordinates),
    )


def _moved_effects(rng: Generator, mode: MapEstimate, observations: Observations) -> Effects:
    """Return the effects, each perturbed in proportion to its uncertainty."""
    row, column = (
        values + _uncertainty(values, np.diff(cells.starts), mode.sigma) * rng.standard_normal(values.size)
        for values, cells in ((mode.row_effects, observations.by_row), (mode.column_effects, observations.by_column))
    )
    mean = mode.mu + mode.sigma / np.sqrt(observations.size) * rng.standard_normal()
    return Effects(float(mean), row, column, 1.0, 1.0)


def _uncertainty(effects: Vector, cells: IntVector, sigma: float) -> Vector:
    """Return the posterior sd of effects given their numbers of cells, under a prior of their empirical variance."""
    variance = float(np.mean(effects**2))
    return np.asarray(np.sqrt(variance / (1.0 + cells * variance / sigma**2)))


def _moved(rng: Generator, factor: Matrix, curvature: Vector) -> Matrix:
    """Return the factor perturbed by a Gaussian; its precision is the curvature of the data plus the manifold's."""
    moved = factor + rng.standard_normal(factor.shape) / np.sqrt(curvature + len(factor))
    left, _, right = np.linalg.svd(moved, full_matrices=False)
    return np.ascontiguousarray(left @ right)
