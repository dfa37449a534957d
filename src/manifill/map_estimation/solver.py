"""The mode at a given prior, with a certificate.

F is not differentiable where the rank of L changes, and smooth in the factors of L at a fixed rank.  The solver
therefore alternates (docs/math.md, the mode) between a search over the factors at a fixed rank and a proximal step that
adds and removes components.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from manifill.map_estimation.certificate import Certificate, duality_gap, residuals
from manifill.map_estimation.fixed_rank import polish
from manifill.map_estimation.leading_triples import leading_triples
from manifill.map_estimation.objective import Objective
from manifill.map_estimation.point import Point
from manifill.map_estimation.proximal_step import proximal_step

__all__ = ["MOST_STEPS", "Solution", "solve"]

# Accuracy of the search at a fixed rank, in units of λ: coarse at first, finer after each round that keeps the rank.
FIRST_ACCURACY, SHARPER = 0.1, 0.1
FINEST_ACCURACY = 1e-4  # in units of the tolerance

# While the norm of the slopes outside the subspace is large, this fraction of it replaces λ as the unit.
OUTSIDE_SHARE = 0.3

# Minimum number of candidate components; otherwise twice the number that was wanted in the previous round.
FEWEST_FRESH = 5

# A small λ is approached from the origin through decreasing values of λ: their ratio, and the tolerance for each.
APPROACH, APPROACH_TOLERANCE = 0.2, 0.1

MOST_STEPS = 10_000


class Solution(NamedTuple):
    """A point, its certificate, and the number of steps, each of which costs about one pass over the cells."""

    point: Point
    certificate: Certificate
    steps: int


def solve(
    objective: Objective,
    *,
    rank: int | None = None,
    tolerance: float = 1e-6,
    start: Point | None = None,
    most_steps: int = MOST_STEPS,
) -> Solution:
    """Minimise F over matrices L of at most this rank.

    ``tolerance`` applies to the residuals of the certificate, in units of λ.  If the likelihood is not log-concave, or
    the rank cap binds, there may be several modes; which one is found depends on ``start``.
    """
    cap = min(objective.shape) if rank is None else rank
    norm = _initial_norm(objective)
    steps = 0
    if start is None:
        start, steps = _approach(objective, cap, norm)
    # L = 0 for every λ above the norm of the slopes at the origin, so such a λ is not a meaningful unit.
    unit = min(objective.prior.rate, norm) or objective.prior.rate
    found = _descend(objective, cap, tolerance, start.first(cap), unit, most_steps)
    return found._replace(steps=steps + found.steps)


def _initial_norm(objective: Objective) -> float:
    """Return the norm of the slopes at the origin."""
    origin = objective.origin
    slopes = objective.slopes(origin)
    if not np.isfinite(slopes.data).all():
        raise ValueError(
            f"the likelihood {objective.likelihood.name!r} has no finite derivative at x = {origin.mean:g}, where the "
            "search starts; make its derivative finite there."
        )
    return leading_triples(slopes, origin.U, origin.V, 1).norm


def _approach(objective: Objective, cap: int, norm: float) -> tuple[Point, int]:
    """Return a starting point found through larger values of λ, and the number of steps."""
    point, steps = objective.origin, 0
    rate = APPROACH * norm
    while rate > objective.prior.rate:
        eased = objective.under(objective.prior._replace(rate=rate))
        point, _, taken = _descend(eased, cap, APPROACH_TOLERANCE, point, rate, MOST_STEPS)
        steps += taken
        rate *= APPROACH
    return point, steps


def _descend(objective: Objective, cap: int, tolerance: float, point: Point, unit: float, most_steps: int) -> Solution:
    """Alternate between a search at a fixed rank and a change of the rank until residuals are within tolerance."""
    accuracy, steps, outside, count = FIRST_ACCURACY, 0, 0.0, FEWEST_FRESH
    while True:
        coarseness = accuracy * max(unit, OUTSIDE_SHARE * outside)
        point, taken, stuck = polish(objective, point, coarseness, most_steps - steps)
        steps += taken
        slopes = objective.slopes(point)
        fresh = leading_triples(slopes, point.U, point.V, count)
        outside = fresh.norm
        found = residuals(objective, point, slopes, outside, unit)
        certificate = Certificate(found, None, point.rank >= cap and found.excess > tolerance, tolerance)
        wanted = int(np.count_nonzero(fresh.values > objective.prior.rate + 0.5 * coarseness))
        moved = proximal_step(objective, point, slopes, fresh.first(min(wanted, cap - point.rank)))
        stays = moved.rank == point.rank
        is_over = steps >= most_steps or (stays and (stuck or accuracy < FINEST_ACCURACY * tolerance))
        if certificate.converged or is_over:
            gap = duality_gap(objective, point, slopes, outside)
            return Solution(point, replace(certificate, gap=gap), steps)
        accuracy *= SHARPER if stays else 1.0
        point, count = moved, max(2 * wanted, FEWEST_FRESH)
