"""First guesses of how long the phases of a fit take, for estimates before anything can be measured."""

from typing import Any

import joblib

from manifill.sampling.time_left import PASSES_PER_ITERATION, Outlook, TimeLeft

__all__ = ["building_seconds", "chain_seconds", "checking_seconds", "products_per_pass"]

# Checks, the choice of priors and writing the data, on one processor; most of it is compression.
TYPICAL = 10, 4, 300, 500  # rank, chains, warm-up and draws that are not given

CHECKING_SECONDS = 3e-6  # per cell
BUILDING_SECONDS = 2e-7  # of it for the sampler's copy of the data


def checking_seconds(cells: float) -> float:
    """Return a guess of the seconds between the reading of a table and its chains."""
    return CHECKING_SECONDS * cells


def building_seconds(cells: float) -> float:
    """Return a guess of the seconds that a sampler takes to be built."""
    return BUILDING_SECONDS * cells


def chain_seconds(cells: float, *, sampler: str, rank: Any, chains: Any, warmup: Any, draws: Any, jobs: Any) -> float:
    """Return a guess of the seconds that chains take; the arguments are a user's, and need not be valid."""
    rank, chains, warmup, draws, jobs = (
        given if isinstance(given, int) and given > 0 else typical
        for given, typical in zip((rank, chains, warmup, draws, jobs), (*TYPICAL, joblib.cpu_count()), strict=True)
    )
    time_left = TimeLeft(chains, warmup, jobs, products_per_pass(cells, rank, sampler))
    time_left.expect(Outlook(draws, draws))
    return time_left.guess()


def products_per_pass(cells: float, rank: int, sampler: str) -> float:
    """Return the number of products of two numbers in a pass over the cells; effects are two components more.

    A sweep counts as the passes of a trajectory, so that its products are divided among as many.
    """
    if sampler in ("auto", "factors"):
        return float(2.0 * cells * (rank + 1) ** 2 / PASSES_PER_ITERATION)
    return float(cells * (rank + 2))
