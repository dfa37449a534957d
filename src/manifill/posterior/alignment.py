"""Alignment of U, s and V: a common order and common signs of the components in all draws.

Order and signs of the components are not identified (docs/math.md, section 6), so a mean of U over the draws as they
are is meaningless.  Here the components of every draw are reordered, and their signs flipped, to be as close as
possible to one reference, the leading components of the posterior mean of the low-rank part.  The product does not
change.

Only order and signs are resolved.  If two singular values are nearly equal, their columns rotate into each other from
draw to draw; if a singular value is close to zero, its columns have no preferred direction.  The standard deviations
are then as large as the entries themselves, about 1/√m and 1/√n, and the means are shrunk towards zero.  Such
components should not be interpreted individually.

Import this module where it is used: importing SciPy's optimisers takes as long as the rest of the package.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from manifill.base.arrays import IntVector
from manifill.base.moments import add_value
from manifill.posterior.draws import Draws
from manifill.unknowns import Components, components_of_product

__all__ = ["AlignedFactors", "aligned"]


@dataclass(frozen=True, eq=False, repr=False)
class AlignedFactors:
    """Means and standard deviations of U, s and V over aligned draws; iterate over it for the draws one by one.

    Components are in descending order of their mean s.  Everything is in the units of the fit, that is after any
    scaling of the columns.
    """

    mean: Components
    sd: Components
    reference: Components  # what the draws are aligned to
    draws: Draws

    def __iter__(self) -> Iterator[Components]:
        """Yield U, s and V draw by draw, chain by chain."""
        return (_matched(self.reference, components) for components in _components(self.draws))


def aligned(draws: Draws) -> AlignedFactors:
    """Align the low-rank part of all draws, which are read three times and never held in memory together.

    Draws of A and B are first converted to U diag(s) Vᵀ.
    """
    with threadpool_limits(1, "blas"):  # for matrices this narrow, threads cost more than they save
        reference = _reference(draws)
        mean, sd = _moments(_matched(reference, components) for components in _components(draws))
    order = np.argsort(-mean.s, kind="stable")
    return AlignedFactors(_ordered(mean, order), _ordered(sd, order), _ordered(reference, order), draws)


def _components(draws: Draws) -> Iterator[Components]:
    """Yield the low-rank part of each draw, without effects."""
    for chain in range(draws.chains):
        if "U" in draws.posterior:
            yield from map(Components, *(draws.each(name, chain) for name in ("U", "s", "V")))
        else:
            yield from map(components_of_product, draws.each("A", chain), draws.each("B", chain))


def _reference(draws: Draws) -> Components:
    """Return approximately the r leading components of X̄, the mean of X over draws, without forming X̄.

    X̄ is projected onto the span of X̄V, with V from the first draw: one and a half steps of subspace iteration.  The
    result does not depend on the order or the signs of the components in any draw.
    """
    start = next(_components(draws))
    left, right = np.zeros(start.U.shape), np.zeros(start.V.shape)
    for U, s, V in _components(draws):
        left += U @ (s[:, None] * (V.T @ start.V))
    basis = np.linalg.qr(left)[0]
    for U, s, V in _components(draws):
        right += V @ (s[:, None] * (U.T @ basis))
    V, s, turn = np.linalg.svd(right / (draws.chains * draws.draws), full_matrices=False)
    largest = V[np.argmax(np.abs(V), axis=0), np.arange(s.size)]
    signs = np.where(largest < 0.0, -1.0, 1.0)  # so that the largest entry of each column of V is positive
    return Components(basis @ turn.T * signs, s, V * signs)


def _matched(reference: Components, components: Components) -> Components:
    """Return the components in the order and with the signs that are closest to the reference.

    The order minimises Σ ‖s̃ₖ ũₖ ṽₖᵀ − sₖ uₖ vₖᵀ‖² over the components k of the reference: it maximises the sum of the
    inner products of such terms, in which signs cancel.
    """
    U, s, V = components
    alike = (reference.s[:, None] * s) * (reference.U.T @ U) * (reference.V.T @ V)
    ordered = _ordered(components, linear_sum_assignment(alike, maximize=True)[1])
    agreement = np.sum(reference.U * ordered.U, axis=0) + np.sum(reference.V * ordered.V, axis=0)
    signs = np.where(agreement < 0.0, -1.0, 1.0)
    return Components(ordered.U * signs, ordered.s, ordered.V * signs)


def _ordered(components: Components, order: IntVector) -> Components:
    return Components(components.U[:, order], components.s[order], components.V[:, order])


def _moments(draws: Iterable[Components]) -> tuple[Components, Components]:
    """Return mean and standard deviation of U, s and V."""
    draws = iter(draws)
    averages = [part.copy() for part in next(draws)]
    squares = [np.zeros(part.shape) for part in averages]
    count = 1
    for count, components in enumerate(draws, start=2):
        for k, part in enumerate(components):
            averages[k], square = add_value(count, averages[k], part)
            squares[k] += square
    return Components(*averages), Components(*(np.sqrt(square / count) for square in squares))
