"""One step of proximal gradient descent in a subspace: it adds components that lower F and removes others."""

import numpy as np
from scipy.sparse import csr_array

from manifill.map_estimation.leading_triples import Triples
from manifill.map_estimation.objective import Objective
from manifill.map_estimation.point import Point

__all__ = ["proximal_step"]

LARGEST_SEARCH = 40

# A step of length t ≤ 1/c lowers F by at least ½‖ΔL‖²/t; half of that is required, up to rounding errors.
DECREASE, ROUNDING = 0.25, 1e-13


def proximal_step(objective: Objective, point: Point, slopes: csr_array, fresh: Triples) -> Point:
    """Return the point after a step in the span of its singular vectors and the ``fresh`` ones.

    In this span L + tG is a small matrix.  Its singular values minus tλ, if positive, are those of the new L.  The step
    length t is the first of 1/c, 1/(2c), … that decreases F sufficiently; c is the largest curvature of the likelihood.
    """
    P, Q = np.hstack((point.U, fresh.left)), np.hstack((point.V, fresh.right))
    size = P.shape[1]
    L = np.zeros((size, size))
    np.fill_diagonal(L[: point.rank, : point.rank], point.s)
    G = P.T @ (slopes @ Q)
    before = objective.value(point)
    length = 1.0 / (float(np.max(np.abs(objective.curvatures(point).data))) or objective.prior.precision)
    for _ in range(LARGEST_SEARCH):
        left, s, right = np.linalg.svd(L + length * G)
        s = np.maximum(s - length * objective.prior.rate, 0.0)
        change = (left * s) @ right - L
        k = np.count_nonzero(s)
        there = point._replace(U=P @ left[:, :k], s=s[:k], V=Q @ right[:k].T)
        wanted = DECREASE / length * float(np.vdot(change, change))
        if objective.value(there) <= before - wanted + ROUNDING * abs(before):
            return there
        length *= 0.5
    return point
