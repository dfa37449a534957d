"""Orders of components by their singular values."""

import numpy as np

from manifill.base.arrays import IntVector, Vector
from manifill.base.jit import compiled_internal

__all__ = ["falling_places", "rising_order"]


@compiled_internal
def falling_places(s: Vector) -> IntVector:
    """Return the rank of each component in descending order of s, (r,), from 0."""
    places = np.zeros(s.size, np.int64)
    for a in range(s.size):
        for b in range(s.size):
            if s[b] > s[a] or (s[b] == s[a] and b < a):
                places[a] += 1
    return places


@compiled_internal
def rising_order(s: Vector) -> IntVector:
    """Return the indices of the components in ascending order of s, (r,)."""
    order, places = np.empty(s.size, np.int64), falling_places(s)
    for a in range(s.size):
        order[s.size - 1 - places[a]] = a
    return order
