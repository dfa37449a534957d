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


class Valley(NamedTuple):
    """a + t U d and L − t U d 1ᵀ, by what of them depends on t: the part of a in the span of U, and UᵀL."""

    effects: Marginal  # the prior of a
    rate: Marginal  # the prior of s
    outside: float  # square of the part of a that is not in the span of U, which stays
    inside: Vector  # Uᵀa, (r,)
    direction: Vector  # d, (r,)
    s: Vector  # (r,)
    sums: Vector  # Vᵀ1, (r,)
    columns: int  # n
    gram: Matrix  # scratch, (r, r)

    @compiled
    def log_density_at(self, t: float) -> float:
        """In B = UᵀL, whose measure a shift keeps: the priors times ∏ s^(r−n) ∏ |s_a² − s_b²|⁻¹."""
        r, d, gram = self.s.size, self.direction, self.gram
        squares = self.outside
        for a in range(r):
            squares += (self.inside[a] + t * d[a]) ** 2
            for b in range(r):
                crossed = self.s[a] * self.sums[a] * d[b] + d[a] * self.s[b] * self.sums[b]
                gram[a, b] = t * t * self.columns * d[a] * d[b] - t * crossed
            gram[a, a] += self.s[a] * self.s[a]
        squared_s = np.linalg.eigvalsh(gram)  # they rise
        if not squared_s[0] > 0.0:
            return -np.inf
        total, _ = self.effects.log_marginal(0.5 * squares)
        penalty, _ = self.rate.log_marginal(np.sqrt(squared_s).sum())
        total += penalty - 0.5 * (self.columns - r) * np.log(squared_s).sum()
        for a in range(r):
            for b in range(a):
                total -= np.log(squared_s[a] - squared_s[b])
        return float(total)


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
    sums = np.dot(V.T, np.ones(n))
    t = draw_on_line(rng, Valley(prior, rate, outside, inside, d, s, sums, n, np.empty((r, r))))
    a += t * np.dot(U, d)
    _shift(U, s, V, t * d, sums)


@compiled
def _shift(U: Matrix, s: Vector, V: Matrix, d: Vector, sums: Vector) -> None:
    """Subtract U d 1ᵀ from U diag(s) Vᵀ: with 1 = V v + ρ q it is U [diag(s) − d vᵀ, −ρ d] [V, q]ᵀ, r×(r + 1).

    A component keeps its place by size.  Places have masses: if all were put in falling order, a trajectory whose
    components change places could not be gone back on.
    """
    r, n = s.size, V.shape[0]
    q = np.ones(n) - np.dot(V, sums)
    q -= np.dot(V, np.dot(V.T, q))  # once more, for where little is left
    rho = np.sqrt(np.sum(q * q))
    if rho > 1e-12 * np.sqrt(n):
        q /= rho
    else:  # 1 is in the span of V
        q[:], rho = 0.0, 0.0
    middle = np.empty((r, r + 1))
    for a in range(r):
        for b in range(r):
            middle[a, b] = -d[a] * sums[b]
        middle[a, a] += s[a]
        middle[a, r] = -rho * d[a]
    left, values, right = np.linalg.svd(middle, False)
    new_U = np.dot(U, left)
    new_V = np.dot(V, np.ascontiguousarray(right[:, :r].T)) + np.outer(q, right[:, r])
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
