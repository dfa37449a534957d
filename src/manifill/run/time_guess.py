"""First guesses of how long the phases of a fit take, for estimates before anything can be measured."""

import joblib

from manifill.sampling.time_left import TimeLeft

__all__ = ["building_seconds", "chain_seconds", "checking_seconds", "products_per_pass"]

# Checks, the choice of priors and writing the data, on one processor; most of it is compression.
CHECKING_SECONDS = 3e-6  # per cell
BUILDING_SECONDS = 2e-7  # of it for the sampler's copy of the data


def checking_seconds(cells: float) -> float:
    """Return a guess of the seconds between the reading of a table and its chains."""
    return CHECKING_SECONDS * cells


def building_seconds(cells: float) -> float:
    """Return a guess of the seconds that a sampler takes to be built."""
    return BUILDING_SECONDS * cells


def chain_seconds(cells: float, rank: int, chains: int, iterations: int, jobs: int | None) -> float:
    """Return a guess of the seconds that the chains of a fit take; the arguments need not be valid."""
    jobs = joblib.cpu_count() if jobs is None else jobs
    return TimeLeft(chains, iterations, max(jobs, 1), products_per_pass(cells, rank)).guess() if chains > 0 else 0.0


def products_per_pass(cells: float, rank: int) -> float:
    """Return the number of products of two numbers in a pass over the cells; effects are two components more."""
    return float(cells * (rank + 2))
