"""The Stiefel manifold with one mass per column: kinetic energy ½ Σ_l D_l ‖w_l‖².

Columns that the data determine well get a large mass and move slowly, so that one step size suits all of them.
Geodesics of this metric have no known closed form.  A step of the constrained leapfrog method is used instead (RATTLE,
Andersen 1983; Leimkuhler and Skeel 1994): a straight step, and a projection back to the manifold along the normals of
the constraint.  Both of its equations are r×r (docs/math.md, §8).
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.jit import compiled, compiled_internal
from manifill.geometry.stiefel import restore_frame, uniform_frame
from manifill.kernels.factor_rows import (
    copy_scaled,
    divide_columns,
    gram,
    half_excess,
    rattle_advance,
    subtract_product,
    weighted_squares,
)
from manifill.kernels.row_random import draw_key, fill_normal_rows

__all__ = ["ScaledStiefel"]

# Tolerance of the fixed-point iteration, for the next change as extrapolated from the last two; a step whose iterates
# go farther than FARTHEST, or have not converged after MOST_ITERATIONS, is far too long.
LARGEST_CHANGE, FARTHEST, MOST_ITERATIONS = 1e-13, 10.0, 60

# A reverse step that ends farther than this from the starting point has found another solution of the equation.
LARGEST_RETURN_ERROR = 1e-8


class ScaledStiefel(NamedTuple):
    """St(rows, columns) with masses D."""

    rows: int
    columns: int
    masses: Vector  # D, (r,)
    inverses: Vector  # 1/D
    share: Matrix  # D_a / (D_a + D_b), (r, r)

    @classmethod
    def with_masses(cls, rows: int, masses: Vector) -> "ScaledStiefel":
        """Return the manifold with these masses of its columns."""
        return cls(rows, len(masses), masses, 1.0 / masses, masses[:, None] / (masses[:, None] + masses))

    @property
    def dimension(self) -> int:
        """Length of the flat vectors, rows · columns."""
        return self.rows * self.columns

    @property
    def longest_step(self) -> float:
        """Half a turn of the lightest column at its typical speed, √(rows / mass)."""
        return float(np.pi * np.sqrt(self.masses.min() / self.rows))

    def random_point(self, rng: Generator) -> Vector:
        """Return a uniform point."""
        return uniform_frame(rng, self.rows, self.columns)

    @compiled
    def restore(self, position: Vector) -> None:
        """One Newton–Schulz step to the nearest orthonormal matrix, as on the manifold without masses."""
        restore_frame(position.reshape(self.rows, self.columns))

    @compiled
    def random_velocity(self, rng: Generator, position: Vector, velocity: Vector) -> None:
        """Fill ``velocity`` with a tangent vector of density ∝ exp(−½ Σ D_l ‖w_l‖²)."""
        W = velocity.reshape(self.rows, self.columns)
        fill_normal_rows(draw_key(rng), W)
        divide_columns(W, np.sqrt(self.masses))
        self.project(position, velocity)

    @compiled
    def project(self, position: Vector, vector: Vector) -> None:
        """Z ← Z − X L, L_ab = (K + Kᵀ)_ab D_a / (D_a + D_b), K = XᵀZ: the orthogonal projection in this metric."""
        X = position.reshape(self.rows, self.columns)
        Z = vector.reshape(self.rows, self.columns)
        K, L = np.empty((self.columns, self.columns)), np.empty((self.columns, self.columns))
        gram(X, Z, K)
        _multiplier(K, self.share, L)
        subtract_product(X, L, Z)

    @compiled
    def accelerate(self, gradient: Vector) -> None:
        """G ← G D⁻¹."""
        G = gradient.reshape(self.rows, self.columns)
        copy_scaled(G, self.inverses, G)

    @compiled
    def kinetic_energy(self, velocity: Vector) -> float:
        """Return ½ Σ D_l ‖w_l‖²."""
        return 0.5 * weighted_squares(velocity.reshape(self.rows, self.columns), self.masses)

    @compiled
    def move(self, position: Vector, velocity: Vector, time: float) -> bool:
        """X′ = X + hW − XZ with Z such that X′ᵀX′ = I, and W½ = (X′ − X)/h, whose tangent part at X′ is W′.

        The part of Z that makes W tangent is subtracted first, so that the rest is small.  The step fails if Z is not
        found, or if the reverse step would not return to X: the trajectory then counts as divergent.
        """
        X = position.reshape(self.rows, self.columns)
        W = velocity.reshape(self.rows, self.columns)
        work = _workspace(self.columns)
        half_excess(X, work.excess)
        gram(X, W, work.A)
        gram(W, W, work.S)
        _multiplier(work.A, self.share, work.normal)
        _leave_tangent(work)
        if not _solve(work.excess, work.A, work.S, time, self.share, work.Z, work.T, work.Q):
            return False
        _arrival_products(work, time)
        _multiplier(work.K, self.share, work.L)
        if not _returns(work, time, self.share):
            return False
        for a in range(self.columns):
            for b in range(self.columns):
                work.step[a, b] = work.normal[a, b] + work.Z[a, b] / time
        rattle_advance(X, W, work.step, time)
        return True


class Workspace(NamedTuple):
    """The r×r matrices of one step, by their names in docs/math.md, §8."""

    excess: Matrix  # ½(XᵀX − I); then the constant part of R
    A: Matrix  # XᵀW, W tangent
    S: Matrix  # WᵀW
    normal: Matrix  # the multiplier that makes W tangent
    Z: Matrix  # the multiplier of the step
    K: Matrix  # X′ᵀW½
    L: Matrix  # the multiplier that makes W½ tangent at X′
    step: Matrix  # both multipliers of W
    A_back: Matrix  # of the reverse step: −X′ᵀW′, W′ᵀW′, its multiplier and constant part
    S_back: Matrix
    Z_back: Matrix
    zero: Matrix
    T: Matrix  # temporary
    Q: Matrix  # temporary


@compiled_internal
def _workspace(r: int) -> Workspace:
    a = np.empty((14, r, r))
    return Workspace(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13])


@compiled_internal
def _multiplier(K: Matrix, share: Matrix, L: Matrix) -> None:
    """Write L_ab = (K + Kᵀ)_ab D_a / (D_a + D_b)."""
    r = K.shape[0]
    for a in range(r):
        for b in range(r):
            L[a, b] = (K[a, b] + K[b, a]) * share[a, b]


@compiled_internal
def _leave_tangent(work: Workspace) -> None:
    """Replace the products XᵀW and WᵀW by those of W − XL: A − XᵀXL, and S − P − Pᵀ with P = Lᵀ(A − ½XᵀXL).

    XᵀX is I + 2E.  Without E, rounding errors would grow from step to step if L is large.
    """
    E, A, S, L, T, P = work.excess, work.A, work.S, work.normal, work.T, work.Q
    r = A.shape[0]
    np.dot(E, L, P)
    for a in range(r):
        for b in range(r):
            T[a, b] = A[a, b] - 0.5 * L[a, b] - P[a, b]
            A[a, b] -= L[a, b] + 2.0 * P[a, b]
    np.dot(L.T, T, P)
    for a in range(r):
        for b in range(r):
            S[a, b] -= P[a, b] + P[b, a]


@compiled_internal
def _solve(E: Matrix, A: Matrix, S: Matrix, h: float, share: Matrix, Z: Matrix, T: Matrix, Q: Matrix) -> bool:
    """Solve Z_ab = R_ab D_a / (D_a + D_b), R = XᵀX − I + h(A + Aᵀ) + h²S + Q + Qᵀ, Q = Zᵀ(½Z − hA), from Z = 0.

    E is ½(XᵀX − I), zero up to rounding errors; including it removes these errors instead of propagating them.  It is
    replaced by the constant part of R.
    """
    r = A.shape[0]
    for a in range(r):
        for b in range(r):
            E[a, b] = 2.0 * E[a, b] + h * (A[a, b] + A[b, a]) + h * h * S[a, b]
            Q[a, b] = 0.0
            Z[a, b] = 0.0
    last = 0.0
    for _ in range(MOST_ITERATIONS):
        change = 0.0
        for a in range(r):
            for b in range(r):
                value = (E[a, b] + Q[a, b] + Q[b, a]) * share[a, b]
                difference = value - Z[a, b]
                change += difference * difference
                Z[a, b] = value
                T[a, b] = 0.5 * value - h * A[a, b]
        if change * change <= LARGEST_CHANGE * LARGEST_CHANGE * last:
            return True
        if not change < FARTHEST * FARTHEST:  # written so that NaN ends it too
            return False
        last = change
        np.dot(Z.T, T, Q)
    return False


@compiled_internal
def _arrival_products(work: Workspace, h: float) -> None:
    """Write K = X′ᵀW½ = (I − Z)ᵀ(A − Z/h) + hS − AᵀZ, W½ = W − XZ/h the velocity that leads from X to X′."""
    A, S, Z, K, T, P = work.A, work.S, work.Z, work.K, work.T, work.Q
    r = A.shape[0]
    for a in range(r):
        for b in range(r):
            T[a, b] = A[a, b] - Z[a, b] / h
    np.dot(Z.T, T, K)
    np.dot(A.T, Z, P)
    for a in range(r):
        for b in range(r):
            K[a, b] = T[a, b] + h * S[a, b] - K[a, b] - P[a, b]


@compiled_internal
def _returns(work: Workspace, h: float, share: Matrix) -> bool:
    """Return whether the reverse step from X′ with −W′ returns to X, that is, whether its equation yields Z = hL.

    The iteration is a contraction with a unique solution if 2(‖hA‖ + ‖Z‖) < 1 in the Frobenius norm.  That suffices for
    most steps; otherwise the equation of the reverse step is solved, from products that are already known.
    """
    A, S, Z, K, L, A_back, S_back = work.A, work.S, work.Z, work.K, work.L, work.A_back, work.S_back
    r = A.shape[0]
    norm_A, norm_L = 0.0, 0.0
    for a in range(r):
        for b in range(r):
            A_back[a, b] = L[a, b] - K[a, b]  # −X′ᵀW′
            norm_A += A_back[a, b] * A_back[a, b]
            norm_L += L[a, b] * L[a, b]
    if 2.0 * abs(h) * (np.sqrt(norm_A) + np.sqrt(norm_L)) < 1.0:
        return True
    for a in range(r):
        for b in range(r):
            # W′ = W − XZ/h − X′L, so W′ᵀW′ needs products of small matrices only.
            total = S[a, b]
            for c in range(r):
                total -= (A[c, a] * Z[c, b] + Z[c, a] * A[c, b]) / h - Z[c, a] * Z[c, b] / (h * h)
                total -= K[c, a] * L[c, b] + L[c, a] * K[c, b] - L[c, a] * L[c, b]
            S_back[a, b] = total
            work.zero[a, b] = 0.0
    if not _solve(work.zero, A_back, S_back, h, share, work.Z_back, work.T, work.Q):
        return False
    for a in range(r):
        for b in range(r):
            if not abs(work.Z_back[a, b] - h * L[a, b]) < LARGEST_RETURN_ERROR:
                return False
    return True
