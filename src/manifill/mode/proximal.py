"""One step of proximal gradient descent in a subspace: it lets components in that are wanted, and the others go."""

import numpy as np
from scipy.sparse import csr_array

from manifill.mode.objective import Objective
from manifill.mode.point import Point
from manifill.mode.spectrum import Triples

__all__ = ["proximal_step"]

LARGEST_SEARCH = 40

# A step of at most 1/c lowers F by ½‖ΔL‖²/t; half of it will do, give or take rounding errors.
DECREASE, ROUNDING = 0.25, 1e-13


def proximal_step(objective: Objective, point: Point, slopes: csr_array, fresh: Triples) -> Point:
    """Return the point after a step, in the span of its own singular vectors and of ``fresh`` ones.

    There L + tG is a small matrix, and its singular values less tλ, where that is positive, are those of the new L.
    t is the first of 1/c, 1/2c, … that lowers F as it should, c the largest curvature of the likelihood.
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
