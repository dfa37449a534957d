"""The Stiefel manifold St(n, r) of n×r matrices with orthonormal columns, with the Euclidean metric."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.jit import compiled, compiled_internal
from manifill.geometry.small_matrices import copy_skew_part, copy_symmetric_part, exponential
from manifill.kernels.factor_rows import advance, gram, half_excess, subtract_product
from manifill.kernels.flat_vectors import half_square, has_turned_in_space
from manifill.kernels.row_random import draw_key, fill_normal_rows

__all__ = ["Stiefel", "restore_frame", "uniform_frame"]


class Stiefel(NamedTuple):
    """St(rows, columns); points are flat."""

    rows: int
    columns: int

    @classmethod
    def of_shape(cls, rows: int, columns: int) -> "Stiefel":
        """Return the manifold, or raise a ValueError if it is empty."""
        if not 0 < columns <= rows:
            raise ValueError(f"St({rows}, {columns}) is empty: columns must be between 1 and rows.")
        return cls(rows, columns)

    @property
    def dimension(self) -> int:
        """Length of the flat vectors, rows · columns."""
        return self.rows * self.columns

    @property
    def longest_step(self) -> float:
        """Half a turn of a column at its typical speed, √rows."""
        return float(np.pi / np.sqrt(self.rows))

    def random_point(self, rng: Generator) -> Vector:
        """Return a uniform point."""
        return uniform_frame(rng, self.rows, self.columns)

    @compiled
    def restore(self, position: Vector) -> None:
        """One Newton–Schulz step to the nearest orthonormal matrix, X ← X (3I − XᵀX)/2, which squares the error."""
        restore_frame(position.reshape(self.rows, self.columns))

    @compiled
    def random_velocity(self, rng: Generator, position: Vector, velocity: Vector) -> None:
        """Fill ``velocity`` with a standard normal tangent vector: a projected Gaussian matrix.

        The energy of a trajectory must be that of the projected velocity (the paper's Algorithm 1 computes it before
        the projection; see slip 1 in docs/math.md), so the velocity is always projected here.
        """
        fill_normal_rows(draw_key(rng), velocity.reshape(self.rows, self.columns))
        self.project(position, velocity)

    @compiled
    def project(self, position: Vector, vector: Vector) -> None:
        """Z ← Z − X sym(XᵀZ), the orthogonal projection to {Z : XᵀZ + ZᵀX = 0}."""
        X = position.reshape(self.rows, self.columns)
        Z = vector.reshape(self.rows, self.columns)
        inner = np.empty((self.columns, self.columns))
        gram(X, Z, inner)
        copy_symmetric_part(inner, inner)
        subtract_product(X, inner, Z)

    @compiled
    def accelerate(self, gradient: Vector) -> None:
        """Do nothing: the masses are one."""

    @compiled
    def move(self, position: Vector, velocity: Vector, time: float) -> bool:
        """Follow the geodesic (Edelman, Arias and Smith 1998, §2.2.2): with A = XᵀW and S = WᵀW,

        [X, W] ← [X, W] · exp(t [[A, −S], [I, A]]) · diag(exp(−tA), exp(−tA)).

        S is about n·I for a random velocity; the block matrix is balanced by c = √(mean diagonal of S) first.

        First the point is restored and the velocity projected, since kicks are not tangent and rounding errors would
        grow from step to step.  That takes one more product of tall matrices, XᵀX; the rest is done on small matrices
        (docs/math.md, *Restoring*).
        """
        X = position.reshape(self.rows, self.columns)
        W = velocity.reshape(self.rows, self.columns)
        r = self.columns
        small = np.empty((5, r, r))
        A, S, rotation, excess, normal = small[0], small[1], small[2], small[3], small[4]
        half_excess(X, excess)
        gram(X, W, A)
        gram(W, W, S)
        _restore_products(excess, A, S, normal, rotation)
        trace = 0.0
        for a in range(r):
            trace += S[a, a]
        c = np.sqrt(trace / r)
        if c == 0.0:
            return True
        generator, flow = np.empty((2 * r, 2 * r)), np.empty((2 * r, 2 * r))
        for a in range(r):
            for b in range(r):
                generator[a, b] = time * A[a, b]
                generator[a, r + b] = -time * S[a, b] / c
                generator[r + a, b] = time * c if a == b else 0.0
                generator[r + a, r + b] = time * A[a, b]
        exponential(generator, flow)
        for a in range(r):
            for b in range(r):
                A[a, b] *= -time
        exponential(A, rotation)
        _undo_balance_and_rotate(flow, rotation, c, generator)
        _restore_first(normal, excess, generator)
        advance(X, W, generator)
        return True

    @compiled
    def kinetic_energy(self, velocity: Vector) -> float:
        """Return ½‖velocity‖² (Frobenius)."""
        return half_square(velocity)

    @compiled
    def has_turned(self, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> bool:
        """Hoffman and Gelman's rule in the space of n×r matrices."""
        return has_turned_in_space(first, first_velocity, last, last_velocity)


@compiled_internal
def restore_frame(X: Matrix) -> None:
    """Replace X (n×r) by X (3I − XᵀX)/2: one Newton–Schulz step to the nearest orthonormal matrix."""
    excess = np.empty((X.shape[1], X.shape[1]))
    half_excess(X, excess)
    # In place: each block of X·excess needs only the same block of X, and is computed before that block is changed.
    subtract_product(X, excess, X)


def uniform_frame(rng: Generator, rows: int, columns: int) -> Vector:
    """Return a uniform point, flat: the Q factor of a Gaussian matrix, with unique signs."""
    Q, R = np.linalg.qr(rng.standard_normal((rows, columns)))
    return np.ascontiguousarray(Q * np.sign(np.diag(R))).ravel()


@compiled_internal
def _restore_products(excess: Matrix, A: Matrix, S: Matrix, normal: Matrix, work: Matrix) -> None:
    """Replace XᵀW and WᵀW by those of X₁ = X(I − Δ) and W₁ = W − X₁Σ, Σ the symmetric part of K = X₁ᵀW.

    A = K − Σ, and S loses ΣK + KᵀΣ − Σ² = ΣA − AΣ + Σ².  ``normal`` receives Σ; Δ is ``excess``.
    """
    r = A.shape[0]
    np.dot(excess, A, work)
    for a in range(r):
        for b in range(r):
            A[a, b] -= work[a, b]
    copy_symmetric_part(A, normal)
    copy_skew_part(A, A)
    for a in range(r):
        for b in range(r):
            work[a, b] = A[a, b] + 0.5 * normal[a, b]
    for a in range(r):
        for b in range(r):
            loss = 0.0
            for k in range(r):
                loss += normal[a, k] * work[k, b] + work[k, a] * normal[k, b]
            S[a, b] -= loss


@compiled_internal
def _restore_first(normal: Matrix, excess: Matrix, flow: Matrix) -> None:
    """Replace ``flow`` by [[I − Δ, −(I − Δ)Σ], [0, I]] · flow, so that it acts on [X, W] instead of [X₁, W₁].

    In place; rows already changed affect the others by terms in Δ², far below rounding errors.
    """
    r = normal.shape[0]
    for small, first in ((normal, r), (excess, 0)):
        for b in range(2 * r):
            for a in range(r):
                total = 0.0
                for k in range(r):
                    total += small[a, k] * flow[first + k, b]
                flow[a, b] -= total


@compiled_internal
def _undo_balance_and_rotate(flow: Matrix, rotation: Matrix, c: float, out: Matrix) -> None:
    """Write diag(1, 1/c) · flow · diag(rotation, c·rotation) to ``out``."""
    r = rotation.shape[0]
    for a in range(2 * r):
        row = 1.0 if a < r else 1.0 / c
        for b in range(r):
            left = 0.0
            right = 0.0
            for k in range(r):
                left += flow[a, k] * rotation[k, b]
                right += flow[a, r + k] * rotation[k, b]
            out[a, b] = row * left
            out[a, r + b] = row * c * right
