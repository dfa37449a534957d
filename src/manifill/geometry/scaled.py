"""The Stiefel manifold with a mass for each column: kinetic energy ½ Σ_l D_l ‖w_l‖².

Columns that the data hold tightly get a large mass and move slowly, so that one step size suits all of them.  In this
metric no geodesic is known in closed form.  A step follows the constrained leapfrog method instead (RATTLE, Andersen
1983; Leimkuhler and Skeel 1994): straight on, and back to the manifold along the constraint's normals.  Both of its
equations are r×r (docs/math.md, §8).
"""

from typing import NamedTuple

import numpy as np

from manifill.compiled import compiled
from manifill.geometry.euclidean import fill_standard_normal
from manifill.geometry.stiefel import uniform_frame
from manifill.geometry.tall import BLOCK_ROWS, gram, half_excess, rattle_advance, subtract_product
from manifill.types import Generator, Matrix, Vector

__all__ = ["ScaledStiefel"]

# The fixed point is found to about this, judging the next change by how the last two fell; a step whose iterates go
# far, or have not settled by then, is far too long.
LARGEST_CHANGE, FARTHEST, MOST_ITERATIONS = 1e-13, 10.0, 60

# A step back that ends this far from where the step began has found another solution of the equation.
LARGEST_RETURN_ERROR = 1e-8


class ScaledStiefel(NamedTuple):
    """St(rows, columns) with masses D; the masses may be changed in place between trajectories by ``set_masses``."""

    rows: int
    columns: int
    masses: Vector  # D, (r,)
    inverses: Vector  # 1/D
    share: Matrix  # D_a / (D_a + D_b), (r, r)
    small: Matrix  # scratch, (10, r, r)
    block: Matrix  # scratch, (BLOCK_ROWS, r)

    @classmethod
    def of_shape(cls, rows: int, columns: int) -> "ScaledStiefel":
        """Return the manifold with unit masses."""
        r = columns
        block = np.empty((min(rows, BLOCK_ROWS), r))
        return cls(rows, r, np.ones(r), np.ones(r), np.full((r, r), 0.5), np.empty((10, r, r)), block)

    def set_masses(self, masses: Vector) -> None:
        """Replace the masses."""
        self.masses[:] = masses
        self.inverses[:] = 1.0 / masses
        self.share[:] = masses[:, None] / (masses[:, None] + masses)

    @property
    def dimension(self) -> int:
        """Length of the flat vectors, rows · columns."""
        return self.rows * self.columns

    @property
    def longest_step(self) -> float:
        """Half a turn of the lightest column at its usual speed, √(rows / mass)."""
        return float(np.pi * np.sqrt(self.masses.min() / self.rows))

    def random_point(self, rng: Generator) -> Vector:
        """Return a uniform point."""
        return uniform_frame(rng, self.rows, self.columns)

    @compiled
    def restore(self, position: Vector) -> None:
        """One Newton–Schulz step to the nearest orthonormal matrix, as on the manifold without masses."""
        X = position.reshape(self.rows, self.columns)
        excess = self.small[0]
        half_excess(X, excess)
        subtract_product(X, excess, self.block, X)

    @compiled
    def random_velocity(self, rng: Generator, position: Vector, velocity: Vector) -> None:
        """Fill ``velocity`` with a tangent vector of density ∝ exp(−½ Σ D_l ‖w_l‖²)."""
        fill_standard_normal(rng, velocity)
        W = velocity.reshape(self.rows, self.columns)
        for i in range(self.rows):
            for c in range(self.columns):
                W[i, c] /= np.sqrt(self.masses[c])
        self.project(position, velocity)

    @compiled
    def project(self, position: Vector, vector: Vector) -> None:
        """Z ← Z − X L, L_ab = (K + Kᵀ)_ab D_a / (D_a + D_b), K = XᵀZ: the projection that is orthogonal by mass."""
        X = position.reshape(self.rows, self.columns)
        Z = vector.reshape(self.rows, self.columns)
        K, L = self.small[0], self.small[1]
        gram(X, Z, K)
        _multiplier(K, self.share, L)
        subtract_product(X, L, self.block, Z)

    @compiled
    def accelerate(self, gradient: Vector) -> None:
        """G ← G D⁻¹."""
        G = gradient.reshape(self.rows, self.columns)
        for i in range(self.rows):
            for c in range(self.columns):
                G[i, c] *= self.inverses[c]

    @compiled
    def kinetic_energy(self, velocity: Vector) -> float:
        """Return ½ Σ D_l ‖w_l‖²."""
        W = velocity.reshape(self.rows, self.columns)
        total = 0.0
        for i in range(self.rows):
            for c in range(self.columns):
                total += self.masses[c] * W[i, c] * W[i, c]
        return 0.5 * total

    @compiled
    def move(self, position: Vector, velocity: Vector, time: float) -> None:
        """X′ = X + hW − XZ with Z such that X′ᵀX′ = I, and W½ = (X′ − X)/h, whose tangent part at X′ is W′.

        The part of Z that makes W tangent is taken off first, so that what is left to solve is small.  Where it is not
        found, or a step back would not find it, the point becomes NaN: its energy is NaN too, and the trajectory counts
        as divergent.
        """
        X = position.reshape(self.rows, self.columns)
        W = velocity.reshape(self.rows, self.columns)
        small = self.small
        E, A, S, Z, L, K, normal = small[0], small[1], small[2], small[3], small[4], small[5], small[9]
        half_excess(X, E)
        gram(X, W, A)
        gram(W, W, S)
        _multiplier(A, self.share, normal)
        _leave_tangent(E, A, S, normal, small[6], small[7])
        if not _solve(E, A, S, time, self.share, Z, small[6], small[7]):
            position[0] = np.nan
            return
        _arrival_products(A, S, Z, time, K, small[6], small[7])
        _multiplier(K, self.share, L)
        if not _returns(A, S, Z, K, L, time, self.share, small[6:9], E):
            position[0] = np.nan
            return
        both = K  # which has been used
        for a in range(self.columns):
            for b in range(self.columns):
                both[a, b] = normal[a, b] + Z[a, b] / time
        rattle_advance(X, W, both, time, self.block)


@compiled
def _multiplier(K: Matrix, share: Matrix, L: Matrix) -> None:
    """Write L_ab = (K + Kᵀ)_ab D_a / (D_a + D_b)."""
    r = K.shape[0]
    for a in range(r):
        for b in range(r):
            L[a, b] = (K[a, b] + K[b, a]) * share[a, b]


@compiled
def _leave_tangent(E: Matrix, A: Matrix, S: Matrix, L: Matrix, T: Matrix, P: Matrix) -> None:
    """Replace the products XᵀW and WᵀW by those of W − XL: A − XᵀXL, and S − P − Pᵀ with P = Lᵀ(A − ½XᵀXL).

    XᵀX is I + 2E: where L is large, rounding errors would grow from step to step if E were left out.
    """
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


@compiled
def _solve(E: Matrix, A: Matrix, S: Matrix, h: float, share: Matrix, Z: Matrix, T: Matrix, Q: Matrix) -> bool:
    """Solve Z_ab = R_ab D_a / (D_a + D_b), R = XᵀX − I + h(A + Aᵀ) + h²S + Q + Qᵀ, Q = Zᵀ(½Z − hA), from Z = 0.

    E is ½(XᵀX − I): zero but for rounding errors, which the step thus takes away instead of carrying them on.  It is
    replaced by the part of R that does not change.
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
        if not change < FARTHEST * FARTHEST:  # so written that a NaN ends it too
            return False
        last = change
        np.dot(Z.T, T, Q)
    return False


@compiled
def _arrival_products(A: Matrix, S: Matrix, Z: Matrix, h: float, K: Matrix, T: Matrix, P: Matrix) -> None:
    """Write K = X′ᵀW½ = (I − Z)ᵀ(A − Z/h) + hS − AᵀZ, W½ = W − XZ/h the velocity that leads from X to X′."""
    r = A.shape[0]
    for a in range(r):
        for b in range(r):
            T[a, b] = A[a, b] - Z[a, b] / h
    np.dot(Z.T, T, K)
    np.dot(A.T, Z, P)
    for a in range(r):
        for b in range(r):
            K[a, b] = T[a, b] + h * S[a, b] - K[a, b] - P[a, b]


@compiled
def _returns(
    A: Matrix, S: Matrix, Z: Matrix, K: Matrix, L: Matrix, h: float, share: Matrix, work: Matrix, zero: Matrix
) -> bool:
    """Say whether a step back from X′ with −W′ finds X again, that is, whether its equation leads to Z = hL.

    The iteration contracts, and has one solution, where 2(‖hA‖ + ‖Z‖) < 1 in the Frobenius norm.  That is enough for
    most steps; otherwise the step back is solved, with products that are all known.
    """
    r = A.shape[0]
    A_back, norm_A, norm_L = work[0], 0.0, 0.0
    for a in range(r):
        for b in range(r):
            A_back[a, b] = L[a, b] - K[a, b]  # −X′ᵀW′
            norm_A += A_back[a, b] * A_back[a, b]
            norm_L += L[a, b] * L[a, b]
    if 2.0 * abs(h) * (np.sqrt(norm_A) + np.sqrt(norm_L)) < 1.0:
        return True
    S_back, Z_back = work[1], work[2]
    for a in range(r):
        for b in range(r):
            # W′ = W − XZ/h − X′L, so W′ᵀW′ needs products of small matrices only.
            total = S[a, b]
            for c in range(r):
                total -= (A[c, a] * Z[c, b] + Z[c, a] * A[c, b]) / h - Z[c, a] * Z[c, b] / (h * h)
                total -= K[c, a] * L[c, b] + L[c, a] * K[c, b] - L[c, a] * L[c, b]
            S_back[a, b] = total
            zero[a, b] = 0.0
    # Two of the matrices that are no longer needed serve as scratch.
    if not _solve(zero, A_back, S_back, h, share, Z_back, K, S):
        return False
    for a in range(r):
        for b in range(r):
            if not abs(Z_back[a, b] - h * L[a, b]) < LARGEST_RETURN_ERROR:
                return False
    return True
