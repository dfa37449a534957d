"""The mode at a given prior, with a certificate.

F has corners where the rank of L changes, and is smooth in the factors of L where it does not.  So two moves take turns
(docs/math.md, the mode): a search in the factors at a fixed rank, and a proximal step that lets components in and out.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from manifill.mode.certificate import Certificate, duality_gap, residuals
from manifill.mode.objective import Objective
from manifill.mode.point import Point
from manifill.mode.polish import polish
from manifill.mode.proximal import proximal_step
from manifill.mode.spectrum import leading_triples

__all__ = ["MOST_STEPS", "Solution", "solve"]

# How exact a search at a fixed rank is, in units of λ: hardly at first, and more whenever the rank has stayed.
FIRST_ACCURACY, SHARPER = 0.1, 0.1
FINEST_ACCURACY = 1e-4  # in units of the tolerance

# While much of the slopes is outside of the subspace, this share of it takes the place of λ.
OUTSIDE_SHARE = 0.3

# New components that are looked for: a few, or twice as many as came in the last time.
FEWEST_FRESH = 5

# From nothing to a small λ by way of larger ones: their quotient, and how exact each is.
APPROACH, APPROACH_TOLERANCE = 0.2, 0.1

MOST_STEPS = 10_000


class Solution(NamedTuple):
    """A point, how far it is from the mode, and the number of steps that it took, about a pass over the cells each."""

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
    """Minimise F, among matrices L of at most this rank.

    ``tolerance`` is for the residuals of the certificate, in units of λ.  A likelihood that is not log-concave may have
    several modes, and so may any with a rank that binds; which one is found depends on ``start``.
    """
    cap = min(objective.shape) if rank is None else rank
    norm = _initial_norm(objective)
    steps = 0
    if start is None:
        start, steps = _approach(objective, cap, norm)
    # Above the norm of the first slopes a higher λ changes nothing, so nothing is measured by it.
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
            "search begins; give it one there."
        )
    return leading_triples(slopes, origin.U, origin.V, 1).norm


def _approach(objective: Objective, cap: int, norm: float) -> tuple[Point, int]:
    """Return a point from which to search, found by way of larger λ, and the steps it took."""
    point, steps = objective.origin, 0
    rate = APPROACH * norm
    while rate > objective.prior.rate:
        eased = objective.under(objective.prior._replace(rate=rate))
        point, _, taken = _descend(eased, cap, APPROACH_TOLERANCE, point, rate, MOST_STEPS)
        steps += taken
        rate *= APPROACH
    return point, steps


def _descend(objective: Objective, cap: int, tolerance: float, point: Point, unit: float, most_steps: int) -> Solution:
    """Take turns between a search at a fixed rank and a change of the rank, until residuals are within tolerance."""
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
