"""The rank of the low-rank part, found from the observed cells, and the components that a rank does not need.

Gibbs sweeps over A Bᵀ (``factor_gibbs``) on most of the cells predict the others, with twice as many components again
and again until their log predictive density no longer grows.  If the rank was given, the result is how many leading
components of the last chain these predictions need (docs/math.md, §2.8).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from manifill.base import progress
from manifill.base.arrays import Generator, Matrix
from manifill.problem import Model, Observations
from manifill.sampling.held_out_trials import SHORTEST, Trial, Trials, divided, mean_and_error, some_cells

__all__ = ["GAIN", "FoundRank", "find_rank", "largest_rank", "needed_components", "needed_rank"]

FIRST, LARGEST = 4, 64

# Components are needed if they raise the log density per cell by more than this, and by more than a standard error.
GAIN = 0.002

# Up to this rank superfluous components cost little, and twice the rank is taken unless it clearly does harm: short
# chains on a part of the cells do not see what the weakest components are worth.
CHEAP, CLEARLY = 16, 2.0  # standard errors

# So many times the components that are needed are kept, for the same reason.
MARGIN = 1.5

# In narrow tables, with a largest rank up to this, every rank is cheap.  A search does not stop between half of that
# rank and all of it: with fewer components, columns whose noise a component of their own explains as well compete for
# them, and chains differ for good in which columns have one.
NARROW = 32

# Chains settle for this number divided by that of the cells, between SHORTEST and LONGEST sweeps.
CELLS_SWEPT, LONGEST = 3e6, 150

# On small tables a search is repeated with other cells left out, until so many have been predicted, or so many times.
ENOUGH_HELD_OUT, MOST_REPEATS = 2000, 4


def largest_rank(shape: tuple[int, int]) -> int:
    """Return the largest rank that is tried: below min(m, n), where a matrix would not be of low rank."""
    return max(min(LARGEST, min(shape) - 1), 1)


class FoundRank(NamedTuple):
    """A rank, and how it was found."""

    rank: int
    how: str


def find_rank(rng: Generator, observations: Observations, model_of: Callable[[int], Model]) -> FoundRank:
    """Return a rank for these cells; ``model_of`` returns the model of a rank, which must be conjugate."""
    some = some_cells(rng, observations)
    limit = largest_rank(some.shape)
    if limit <= FIRST:
        return FoundRank(limit, "the largest for a table of this size")
    search = _Search.of(rng, some)
    if search is None:
        return FoundRank(FIRST, "as there are too few cells to choose by")
    progress.begin("choosing the rank", search.most_sweeps(limit), "sweeps")
    with threadpool_limits(1, "blas"):
        return FoundRank(search.grown(rng, model_of, limit)[0].rank, "chosen from the data")


def needed_rank(rng: Generator, observations: Observations, model: Model) -> int:
    """Return how many components of a conjugate model to keep, MARGIN times those that predictions need; at most all.

    The chains are of this model with fewer components, whose prior does not depend on how many they are.  If there are
    too few cells to leave some out, all components are kept.
    """
    some = some_cells(rng, observations)
    search, limit = _Search.of(rng, some), min(model.rank, *some.shape)
    if search is None:
        return model.rank
    progress.begin("dropping components", search.most_sweeps(limit) + search.sweeps / 2.0, "sweeps")
    with threadpool_limits(1, "blas"):
        found = search.grown(rng, lambda rank: replace(model, rank=rank), limit)
        last = replace(model, rank=found[0].rank)
        each = (one.run_by_leading(rng, last, trial.state) for one, trial in zip(search.trials, found, strict=True))
        needed = needed_components(np.hstack(list(each)), some.size)
    kept, largest = int(np.ceil(MARGIN * needed)), largest_rank(some.shape)
    return model.rank if search.is_narrow and 2 * kept > largest else min(kept, model.rank)


def needed_components(log_densities: Matrix, cells: int) -> int:
    """Return after how many leading components no further ones raise the log density of cells.

    ``log_densities`` is (r + 1, predictions), by the k leading components, k = 0, …, r, of so many different cells.  At
    least one is needed.
    """
    last = len(log_densities) - 1
    for kept in range(last):
        more = (mean_and_error(each - log_densities[kept], cells) for each in log_densities[kept + 1 :])
        if all(gain <= max(GAIN, error) for gain, error in more):
            return max(kept, 1)
    return last


class _Search(NamedTuple):
    """The same search with different cells left out."""

    trials: list[Trials]
    cells: int
    is_narrow: bool  # the table

    @classmethod
    def of(cls, rng: Generator, cells: Observations) -> "_Search | None":
        """Return a search for these cells, or None if there are too few to leave some out."""
        length, trials = int(np.clip(CELLS_SWEPT / cells.size, SHORTEST, LONGEST)), list[Trials]()
        while sum(each.held_out for each in trials) < ENOUGH_HELD_OUT and len(trials) < MOST_REPEATS:
            parts = divided(rng, cells)
            if parts is None:
                return None
            trials.append(Trials(*parts, length=length))
        return cls(trials, cells.size, largest_rank(cells.shape) <= NARROW)

    @property
    def sweeps(self) -> float:
        """The sweeps with one rank."""
        return float(sum(2 * each.length for each in self.trials))

    def most_sweeps(self, limit: int) -> float:
        """Return the sweeps of a search that reaches the limit."""
        return float(self.sweeps * (1 + np.ceil(np.log2(max(limit / FIRST, 1.0)))))

    def grown(self, rng: Generator, model_of: Callable[[int], Model], limit: int) -> list[Trial]:
        """Return the trials of the first rank that is large enough, among FIRST, 2 FIRST, …, limit."""
        best = [each.run(rng, model_of(min(FIRST, limit))) for each in self.trials]
        while best[0].rank < limit:
            model = model_of(min(2 * best[0].rank, limit))
            more = [each.run(rng, model, fewer.state) for each, fewer in zip(self.trials, best, strict=True)]
            gains = [a.log_density - b.log_density for a, b in zip(more, best, strict=True)]
            gain, error = mean_and_error(np.concatenate(gains), self.cells)
            if gain <= max(GAIN, error):
                is_cheap = self.is_narrow or model.rank <= CHEAP
                if not is_cheap or gain <= -CLEARLY * error:
                    return best
                if not self.is_narrow or 2 * model.rank <= limit:
                    return more
            best = more
        return best
