"""The effective rank of the low-rank part: how many equal components would be as many as it has.

It is exp(H) of the singular values as shares of their sum (Roy and Vetterli 2007, "The effective rank: a measure of
effective dimensionality", EUSIPCO): 3 for three equal values, and little more if others are small.  It does not
depend on a threshold, nor on how many components that are nearly zero the model has.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from manifill.base.arrays import Vector
from manifill.posterior.draws import Draws
from manifill.posterior.identified import singular_values

__all__ = ["EffectiveRank", "effective_rank"]

DRAWS = 200  # evenly spread over all; the interval needs no more


class EffectiveRank(NamedTuple):
    """The posterior mean of the effective rank, and its central interval of probability 90 %."""

    mean: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.mean:.1f} (90 % interval {self.lower:.1f} to {self.upper:.1f})"


def effective_rank(draws: Draws) -> EffectiveRank:
    """Return the effective rank of the matrix without mean and effects."""
    found = [_of_values(values) for values in _singular_values(draws.thinned(DRAWS))]
    lower, upper = np.quantile(found, (0.05, 0.95))
    return EffectiveRank(float(np.mean(found)), float(lower), float(upper))


def _singular_values(draws: Draws) -> Iterator[Vector]:
    """Yield the singular values of the low-rank part of each draw, in any order."""
    for chain in range(draws.chains):
        if "s" in draws.posterior:
            yield from draws.each("s", chain)
            continue
        with threadpool_limits(1, "blas"):  # for matrices this narrow, threads cost more than they save
            for A, B in zip(draws.each("A", chain), draws.each("B", chain), strict=True):
                yield singular_values(A, B)


def _of_values(values: Vector) -> float:
    total = float(values.sum())
    if total == 0.0:
        return 0.0
    shares = values[values > 0.0] / total
    return float(np.exp(-shares @ np.log(shares)))
