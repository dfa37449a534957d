"""Where a chain starts: about one standard deviation from the posterior's mode, each chain elsewhere."""

from typing import NamedTuple

import numpy as np

from manifill.mode.estimate import MapEstimate
from manifill.mode.find import find_mode, with_rank
from manifill.problem import Effects, Model, Observations
from manifill.types import Generator, IntVector, Matrix, Vector

__all__ = ["Start", "warm_start"]

# How far log s is moved at most, for components that the data hardly tell of.
LARGEST_SHIFT = 0.5


class Start(NamedTuple):
    """U (m×r) and V (n×r) with orthonormal columns, s (r,) positive, and effects."""

    U: Matrix
    s: Vector
    V: Matrix
    effects: Effects


def warm_start(rng: Generator, observations: Observations, model: Model) -> Start:
    """Return a coarse mode of the model's rank, moved at random by what the data leave uncertain."""
    effects = model.effects is not None
    mode = find_mode(rng, observations, model.likelihood, model.rank, effects=effects)
    mode = with_rank(rng, mode, model.rank)
    m, n = observations.shape
    # The curvature of the data along a column of unit length, as if the cells were spread evenly.
    curvature = observations.size / (m * n) / mode.sigma**2 * mode.s**2
    shift = np.minimum(1.0 / np.sqrt(curvature + 1.0), LARGEST_SHIFT)
    return Start(
        U=_moved(rng, mode.U, curvature),
        s=mode.s * np.exp(shift * rng.standard_normal(mode.s.size)),
        V=_moved(rng, mode.V, curvature),
        effects=_moved_effects(rng, mode, observations) if effects else Effects.none(),
    )


def _moved_effects(rng: Generator, mode: MapEstimate, observations: Observations) -> Effects:
    """Return the effects moved each by what its cells, and the spread of all of them, leave uncertain."""
    row, column = (
        values + _uncertainty(values, np.diff(cells.starts), mode.sigma) * rng.standard_normal(values.size)
        for values, cells in ((mode.row_effects, observations.by_row), (mode.column_effects, observations.by_column))
    )
    mean = mode.mu + mode.sigma / np.sqrt(observations.size) * rng.standard_normal()
    return Effects(float(mean), row, column, 1.0, 1.0)


def _uncertainty(effects: Vector, cells: IntVector, sigma: float) -> Vector:
    """Return standard deviations of effects, by their number of cells, under a prior as wide as they are spread."""
    variance = float(np.mean(effects**2))
    return np.asarray(np.sqrt(variance / (1.0 + cells * variance / sigma**2)))


def _moved(rng: Generator, factor: Matrix, curvature: Vector) -> Matrix:
    """Return the factor moved by a Gaussian of the curvature's width, and of the manifold's where that is less."""
    moved = factor + rng.standard_normal(factor.shape) / np.sqrt(curvature + len(factor))
    left, _, right = np.linalg.svd(moved, full_matrices=False)
    return np.ascontiguousarray(left @ right)
