"""The constrained step of the scaled manifold as the equations say it, in plain NumPy."""

import numpy as np

from manifill.base.arrays import Matrix, Vector


def mass_projection(X: Matrix, Z: Matrix, masses: Vector) -> Matrix:
    """Return Z − X·S/D, where the symmetric S makes it tangent: S_ab (1/D_a + 1/D_b) = (XᵀZ + ZᵀX)_ab."""
    inner = X.T @ Z
    S = (inner + inner.T) / (1.0 / masses[:, None] + 1.0 / masses)
    return Z - X @ S / masses


def rattle_step(X: Matrix, W: Matrix, masses: Vector, h: float) -> tuple[Matrix, Matrix] | None:
    """Return X′ = X + hW − X·S/D on the manifold and its velocity, or None where S is not found.

    The step along the normals is found by fixed-point iteration: what is left of X′ᵀX′ = I is put right as if the
    normals at X and at X′ were the same.
    """
    identity, sums = np.eye(X.shape[1]), 1.0 / masses[:, None] + 1.0 / masses
    S = np.zeros_like(identity)
    for _ in range(60):
        end = X + h * W - X @ S / masses
        excess = end.T @ end - identity
        S = S + excess / sums
        if not np.abs(S).max() < 1e3:
            return None
        if np.abs(excess).max() < 1e-14:
            return end, mass_projection(end, (end - X) / h, masses)
    return None
