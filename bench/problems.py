"""The problems of the benchmarks: the paper's synthetic cases, and the real data in ``MANIFILL_DATA``."""

import os

from manifill.datasets import load_mice_protein, load_movielens
from manifill.paper.cases import TRIALS, synthetic
from manifill.problem import Observations

__all__ = ["TRIALS", "has_real_data", "mice", "movielens", "synthetic"]


def has_real_data() -> bool:
    """Return whether MANIFILL_DATA is set; benchmarks do not download data."""
    return bool(os.environ.get("MANIFILL_DATA"))


def mice() -> Observations:
    """Return the protein levels, 1080 measurements × 77 proteins, without the missing cells."""
    return load_mice_protein().observations


def movielens() -> Observations:
    """Return the ratings of MovieLens (ml-latest-small) in stars, 610 users × 9724 movies."""
    return load_movielens().observations
