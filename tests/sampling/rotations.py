"""Exact moments on St(3, 2) by quadrature over rotations: its points are the first two columns of one, uniformly."""

from collections.abc import Callable

import numpy as np

from manifill.base.arrays import Matrix, Vector


def rotations(nodes: int) -> tuple[Matrix, Vector]:
    """Return St(3, 2) points (K, 3, 2) and their weights, for Euler angles z-y-z with the measure sin β dα dβ dγ.

    The trapezoidal rule is exact to machine precision in the two periodic angles, Gauss's in cos β.
    """
    angle = 2.0 * np.pi * np.arange(nodes) / nodes
    height, weight = np.polynomial.legendre.leggauss(nodes)
    alpha, cos_beta, gamma = (grid.ravel() for grid in np.meshgrid(angle, height, angle, indexing="ij"))
    sin_beta = np.sqrt(1.0 - cos_beta**2)
    ca, sa, cg, sg = np.cos(alpha), np.sin(alpha), np.cos(gamma), np.sin(gamma)
    first = np.stack([ca * cos_beta * cg - sa * sg, sa * cos_beta * cg + ca * sg, -sin_beta * cg], axis=1)
    second = np.stack([-ca * cos_beta * sg - sa * cg, -sa * cos_beta * sg + ca * cg, sin_beta * sg], axis=1)
    return np.stack([first, second], axis=2), np.tile(np.repeat(weight, nodes), nodes)


def moments(log_density: Callable[[Matrix], Vector], nodes: int = 40) -> tuple[Matrix, Matrix]:
    """Return E X and E X∘X under exp(log_density), a function of points (K, 3, 2)."""
    X, weights = rotations(nodes)
    log_p = log_density(X)
    weights = weights * np.exp(log_p - log_p.max())
    weights /= weights.sum()
    return np.tensordot(weights, X, 1), np.tensordot(weights, X**2, 1)
