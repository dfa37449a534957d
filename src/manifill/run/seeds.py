"""The random streams of a run, by name.

All streams are children of the run's seed, so that none depends on how much another has been used.  Their spawn keys
are assigned here and nowhere else.  A key must never change: stored draws, predictions and held-out cells depend on it.
"""

from enum import IntEnum

import numpy as np

from manifill.base.arrays import Generator

__all__ = ["Stream", "chain_seeds", "generator"]


class Stream(IntEnum):
    """First spawn keys of the streams other than chains; they are above the keys of chains, 0, 1, …."""

    DIAGNOSTICS = 1 << 30  # random directions and cells of the identified quantities
    PREDICTION = (1 << 30) + 1  # values sampled given the draws
    HELD_OUT = (1 << 30) + 2  # the choice of the held-out cells
    RANK = (1 << 30) + 3  # the search for a rank
    TRANSFORM = (1 << 30) + 4  # the trial of transformed columns
    IMPUTATION = (1 << 30) + 5  # the missing entries of completed tables
    REPORT = 1 << 31  # followed by a second key, one per section


def chain_seeds(seed: int, chains: int) -> list[np.random.SeedSequence]:
    """Return the seed of each chain: chain k has the spawn key (k,)."""
    return [np.random.SeedSequence(seed, spawn_key=(chain,)) for chain in range(chains)]


def generator(seed: int, stream: Stream, *keys: int) -> Generator:
    """Return the generator of a stream, or of one of its children."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(stream), *keys)))
