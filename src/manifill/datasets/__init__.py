"""Loaders of public datasets."""

from manifill.datasets.dataset import Dataset, Source
from manifill.datasets.mice_protein import load_mice_protein
from manifill.datasets.movielens import load_movielens

__all__ = ["Dataset", "Source", "load_mice_protein", "load_movielens"]
