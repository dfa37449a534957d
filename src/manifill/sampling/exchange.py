"""Effects exchanged with the low-rank part, by slice sampling: the completed matrix stays (docs/math.md, §8.9).

Row effects in the span of U can as well be said by the low-rank part, a 1ᵀ + L = (a + c) 1ᵀ + (L − c 1ᵀ) with c = U d,
and the data cannot tell: where they have little noise a trajectory hardly moves along this valley of r dimensions.
The same holds of column effects and V.
"""

from typing import NamedTuple

import numpy as np

from manifill.compiled import compiled
from manifill.problem.joint import JointDensity
from manifill.problem.priors import Marginal
from manifill.sampling.slices import draw_on_line
from manifill.types import Generator, IntVector, Matrix, Vector

__all__ = ["exchange_effects"]


class Ones(NamedTuple):
    """The vector of ones taken apart: 1 = V v + ρ q."""

    inside: Vector  # v = Vᵀ1, (r,)
    rest: Vector  # q, (n,), of length one and orthogonal to V; zero where 1 is in the span of V
    length: float  # ρ


class Valley(NamedTuple):
    """a + t U d and L − t U d 1ᵀ, by what of them depends on t: the part of a in the span of U, and UᵀL."""

    effects: Marginal  # the prior of a
    rate: Marginal  # the prior of s
    outside: float  # square of the part of a that is not in the span of U, which stays
    inside: Vector  # Uᵀa, (r,)
    direction: Vector  # d, (r,)
    s: Vector  # (r,)
    ones: Ones
    columns: int  # n

    @compiled
    def log_density_at(self, t: float) -> float:
        """In B = UᵀL, whose measure a shift keeps: the priors times ∏ s^(r−n) ∏ |s_a² − s_b²|⁻¹.

        The s are found as such, not as roots of eigenvalues: those of small ones would be rounding errors.
        """
        r, d = self.s.size, self.direction
        _, s, _ = np.linalg.svd(_shifted(self.s, t * d, self.ones), False)  # they fall
        if not s[-1] > 0.0:
            return -np.inf
        squares, logs = self.outside, 0.0
        for a in range(r):
            squares += (self.inside[a] + t * d[a]) ** 2
            logs += (self.columns - r) * np.log(s[a])
            for b in range(a):
                logs += np.log(s[b] - s[a]) + np.log(s[b] + s[a])
        total, _ = self.effects.log_marginal(0.5 * squares)
        penalty, _ = self.rate.log_marginal(s.sum())
        return float(total + penalty - logs)


@compiled
def exchange_effects(rng: Generator, density: JointDensity, position: Vector) -> None:
    """Move along one random direction for a, and one for b; a density without effects stays as it is."""
    r, (m, n) = density.rank, (density.left.shape[0], density.right.shape[0])
    if density.left.shape[1] == r:
        return
    u, v = m * r, (m + n) * r
    U, V, s = position[:u].reshape(m, r), position[u:v].reshape(n, r), position[v : v + r]
    a, b = position[v + r + 1 : v + r + 1 + m], position[v + r + 1 + m :]
    _exchange(rng, density.row, density.rate, U, s, V, a)
    _exchange(rng, density.column, density.rate, V, s, U, b)


@compiled
def _exchange(rng: Generator, prior: Marginal, rate: Marginal, U: Matrix, s: Vector, V: Matrix, a: Vector) -> None:
    """Draw t, and write a + t U d and the singular form of U diag(s) Vᵀ − t U d 1ᵀ."""
    (m, r), n = U.shape, V.shape[0]
    inside = np.dot(U.T, a)
    outside = np.sum((a - np.dot(U, inside)) ** 2)
    # The direction's length is that of an effect, as the part of a that stays tells it: the choice must not depend on
    # what moves.
    length = np.sqrt(outside / (m - r)) if m > r else 1.0
    d = np.empty(r)
    for c in range(r):
        d[c] = length * rng.standard_normal() / np.sqrt(r)
    ones = _ones(V)
    t = draw_on_line(rng, Valley(prior, rate, outside, inside, d, s, ones, n))
    a += t * np.dot(U, d)
    _shift(U, s, V, t * d, ones)


@compiled
def _ones(V: Matrix) -> Ones:
    n = V.shape[0]
    inside = np.dot(V.T, np.ones(n))
    rest = np.ones(n) - np.dot(V, inside)
    rest -= np.dot(V, np.dot(V.T, rest))  # once more, for where little is left
    length = np.sqrt(np.sum(rest * rest))
    if length > 1e-12 * np.sqrt(n):
        rest /= length
    else:
        rest[:], length = 0.0, 0.0
    return Ones(inside, rest, length)


@compiled
def _shifted(s: Vector, d: Vector, ones: Ones) -> Matrix:
    """Return [diag(s) − d vᵀ, −ρ d], (r, r + 1): between U and [V, q]ᵀ it is U diag(s) Vᵀ − U d 1ᵀ."""
    r = s.size
    middle = np.empty((r, r + 1))
    for a in range(r):
        for b in range(r):
            middle[a, b] = -d[a] * ones.inside[b]
        middle[a, a] += s[a]
        middle[a, r] = -d[a] * ones.length
    return middle


@compiled
def _shift(U: Matrix, s: Vector, V: Matrix, d: Vector, ones: Ones) -> None:
    """Subtract U d 1ᵀ from U diag(s) Vᵀ.

    A component keeps its place by size.  Places have masses: if all were put in falling order, a trajectory whose
    components change places could not be gone back on.
    """
    r = s.size
    left, values, right = np.linalg.svd(_shifted(s, d, ones), False)
    new_U = np.dot(U, left)
    new_V = np.dot(V, np.ascontiguousarray(right[:, :r].T)) + np.outer(ones.rest, right[:, r])
    places = _places(s)
    for a in range(r):
        s[a] = values[places[a]]
        U[:, a] = new_U[:, places[a]]
        V[:, a] = new_V[:, places[a]]


@compiled
def _places(s: Vector) -> IntVector:
    """Return the place of each component in falling order."""
    places = np.zeros(s.size, np.int64)
    for a in range(s.size):
        for b in range(s.size):
            if s[b] > s[a] or (s[b] == s[a] and b < a):
                places[a] += 1
    return places
