"""Manifolds that samplers move on, independent of the densities on them."""

from manifill.geometry.euclidean import Euclidean
from manifill.geometry.low_rank import LowRank, Masses
from manifill.geometry.manifold import Manifold
from manifill.geometry.scaled_stiefel import ScaledStiefel
from manifill.geometry.stiefel import Stiefel

__all__ = ["Euclidean", "LowRank", "Manifold", "Masses", "ScaledStiefel", "Stiefel"]
