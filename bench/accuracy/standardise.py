"""Standardised columns for methods that depend on units."""

from dataclasses import replace

import numpy as np

from accuracy.predicted import Units
from accuracy.tables import Split


def standardise(split: Split) -> tuple[Split, Units]:
    """Return a split with columns of mean 0 and standard deviation 1 over their training cells, and how to go back.

    A column with fewer than two different values keeps the mean and standard deviation of the table.
    """
    n, (_, cols, y) = split.shape[1], split.train
    counts = np.bincount(cols, minlength=n)
    means = np.bincount(cols, y, n) / np.maximum(counts, 1)
    spreads = np.sqrt(np.bincount(cols, (y - means[cols]) ** 2, n) / np.maximum(counts, 1))
    unusable = spreads == 0.0
    means[unusable], spreads[unusable] = y.mean(), y.std()
    train = split.train._replace(y=(y - means[cols]) / spreads[cols])
    return replace(split, train=train), Units(means[split.test.cols], spreads[split.test.cols])


def unchanged(split: Split) -> tuple[Split, Units]:
    """Return the split and the units as they are."""
    count = split.test.y.size
    return split, Units(np.zeros(count), np.ones(count))
