"""U, s and V for reading: one order and one sign in all draws.

The model knows neither an order nor signs of components (docs/math.md, section 6), so a mean of U over draws as they
are means nothing.  Here every draw has its components ordered and their signs chosen to be as near as they can to those
of one reference, the leading components of the posterior mean of the low-rank part.  Products stay what they are.

Order and signs are all that is undone.  Where two singular values nearly agree, their columns turn into each other from
draw to draw, and where one is hardly above zero, its columns point anywhere: then standard deviations are as large as
entries are, about 1/√m and 1/√n, and means are shrunk towards zero.  Such components are not to be read one by one.

To be imported where it is used: SciPy's optimisers take as long as all else.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from manifill.posterior.draws import Draws
from manifill.types import IntVector, Matrix, Vector

__all__ = ["AlignedFactors", "Components", "aligned"]


class Components(NamedTuple):
    """The low-rank part U diag(s) Vᵀ."""

    U: Matrix  # (m, r)
    s: Vector  # (r,)
    V: Matrix  # (n, r)


@dataclass(frozen=True, eq=False, repr=False)
class AlignedFactors:
    """Means and standard deviations of U, s and V over aligned draws; iterate over it for the draws one by one.

    Components are in the order of their mean s.  Everything is in the units of the fit, where columns were scaled.
    """

    mean: Components
    sd: Components
    reference: Components  # what the draws are aligned to
    draws: Draws

    def __iter__(self) -> Iterator[Components]:
        """Yield U, s and V of one draw after another, chain after chain."""
        return (_matched(self.reference, components) for components in _components(self.draws))


def aligned(draws: Draws) -> AlignedFactors:
    """Align the low-rank part of all draws; they are read three times, and never held together.

    Draws of A and B are first brought to the form U diag(s) Vᵀ.
    """
    with threadpool_limits(1, "blas"):  # for matrices this narrow, threads take longer to meet than to work
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
            yield from map(_decomposed, draws.each("A", chain), draws.each("B", chain))


def _decomposed(A: Matrix, B: Matrix) -> Components:
    """Return the singular value decomposition of A Bᵀ, from an r×r matrix."""
    (left, left_triangle), (right, right_triangle) = np.linalg.qr(A), np.linalg.qr(B)
    U, s, Vt = np.linalg.svd(left_triangle @ right_triangle.T)
    return Components(left @ U, s, right @ Vt.T)


def _reference(draws: Draws) -> Components:
    """Return about the r leading components of X̄, the mean of X over draws, which is never formed.

    X̄ is projected on the span of X̄V, with the V of one draw: one and a half steps of subspace iteration.  Nothing here
    depends on the order or the signs of components in any draw.
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
    """Return the components in the order and with the signs that bring them nearest to the reference.

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
    """Return mean and standard deviation of U, s and V, by Welford's update."""
    draws = iter(draws)
    averages = [part.copy() for part in next(draws)]
    squares = [np.zeros(part.shape) for part in averages]
    count = 1
    for count, components in enumerate(draws, start=2):
        for part, average, square in zip(components, averages, squares, strict=True):
            step = part - average
            average += step / count
            square += step * (part - average)
    return Components(*averages), Components(*(np.sqrt(square / count) for square in squares))
