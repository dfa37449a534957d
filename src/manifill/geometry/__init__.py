"""Where the unknowns live: manifolds that a sampler can move on, none of which knows what is being sampled."""

from manifill.geometry.euclidean import Euclidean
from manifill.geometry.lowrank import LowRank
from manifill.geometry.manifold import Manifold
from manifill.geometry.scaled import ScaledStiefel
from manifill.geometry.stiefel import Stiefel

__all__ = ["Euclidean", "LowRank", "Manifold", "ScaledStiefel", "Stiefel"]
