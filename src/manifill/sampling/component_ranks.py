"""Masses that follow the components when they change their order (docs/math.md, §8.4).

Each rank by size has its own masses.  A component that outgrows another would keep the masses of its old rank, which
are wrong by the ratio of their squares, and most trajectories would be refused.  Masses that depend on s are not
allowed either.  So every draw begins with a random ranking ρ, which is then kept: a larger component precedes a smaller
one with high probability.  It is Plackett and Luce's, with weights θ_l = (s_l² + f)^(k/2),

    p(ρ | s) = ∏_k θ_ρ(k) / Σ_{j ≥ k} θ_ρ(j).

Trajectories have the density of the unknowns and ρ together.  Summed over ρ, which is drawn anew, it is the posterior.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, IntVector, Vector
from manifill.base.jit import compiled, compiled_internal
from manifill.geometry import Masses
from manifill.problem.joint_density import JointDensity
from manifill.unknowns import view

__all__ = ["RankedDensity", "draw_ranking", "masses_by_rank"]

# k: of two components whose masses differ by a factor c, the heavier one precedes the other with odds of c^(k/2).
SHARPNESS = 6.0


class RankedDensity(NamedTuple):
    """The log density of the unknowns and a ranking of the components, which is fixed."""

    density: JointDensity
    ranking: IntVector  # (r,), the component of each rank, the largest first
    floor: float  # f: smaller squares of singular values are not told apart

    @compiled
    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        log_density = self.density.log_density_gradient(position, gradient)
        at, out = view(self.density.layout, position), view(self.density.layout, gradient)
        return log_density + _ranking_gradient(self.ranking, self.floor, at.s, out.s)


@compiled_internal
def _ranking_gradient(ranking: IntVector, floor: float, s: Vector, gradient: Vector) -> float:
    """Return log p(ρ | s) and add its derivatives to ``gradient``."""
    r = ranking.size
    logs, sums = np.empty(r), np.empty(r)  # by rank: of θ, and of the sum of θ over this and all later ranks
    for k in range(r - 1, -1, -1):
        logs[k] = 0.5 * SHARPNESS * np.log(s[ranking[k]] ** 2 + floor)
        sums[k] = logs[k] if k == r - 1 else np.logaddexp(sums[k + 1], logs[k])
    total, inverse = 0.0, -np.inf  # the latter is the log of Σ 1/sum over the ranks up to this one
    for k in range(r):
        a = ranking[k]
        total += logs[k] - sums[k]
        inverse = np.logaddexp(inverse, -sums[k])
        gradient[a] += (1.0 - np.exp(logs[k] + inverse)) * SHARPNESS * s[a] / (s[a] ** 2 + floor)
    return total


def draw_ranking(rng: Generator, s: Vector, floor: float) -> IntVector:
    """Draw a ranking given s: the order of log θ plus Gumbel noise."""
    keys = 0.5 * SHARPNESS * np.log(s**2 + floor) + rng.gumbel(size=s.size)
    return np.argsort(-keys, kind="stable")


def masses_by_rank(masses: Masses, ranking: IntVector) -> Masses:
    """Return the masses by component, given those by rank."""
    left, right, rest = np.empty_like(masses.left), np.empty_like(masses.right), masses.rest.copy()
    left[ranking], right[ranking] = masses.left, masses.right
    rest[ranking] = masses.rest[: ranking.size]  # s comes first
    return Masses(left, right, rest)
