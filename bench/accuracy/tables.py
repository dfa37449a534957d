"""The tables of the benchmark and their splits, which are the same for all methods."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import sklearn.datasets
from problems import mice, movielens, synthetic

from manifill.base.arrays import Array, IntVector, Matrix, Vector
from manifill.problem import Observations, from_array

SPLITS = 5

# Returns training and test cells, from a seed.
Splitting = Callable[[int], tuple[Observations, Observations]]


class Cells(NamedTuple):
    """Values y at cells."""

    rows: IntVector
    cols: IntVector
    y: Vector

    def chosen(self, mask: Array) -> "Cells":
        """Return some of the cells."""
        return Cells(self.rows[mask], self.cols[mask], self.y[mask])


@dataclass(frozen=True, eq=False)
class Split:
    """Cells to fit and cells to predict of one table."""

    shape: tuple[int, int]
    train: Cells
    test: Cells
    units: Vector  # (n,): errors of a column are measured in this unit
    stars: bool  # whether values are half stars, 0.5 to 5

    @property
    def test_units(self) -> Vector:
        """The unit of each test cell."""
        return self.units[self.test.cols]


@dataclass(frozen=True)
class Table:
    """How a table is split, and who is tried on it."""

    split: Splitting
    column_units: bool = True  # errors in standard deviations of the columns, since these have units of their own
    stars: bool = False
    needs_files: bool = False  # in MANIFILL_DATA
    peers: bool = True

    def load(self, number: int) -> Split:
        """Return split ``number``, which is also the seed."""
        train, test = self.split(number)
        parts = Cells(*train.triples()), Cells(*test.triples())
        units = _column_spreads(train.shape, *parts) if self.column_units else np.ones(train.shape[1])
        return Split(train.shape, *parts, units, self.stars)


def _column_spreads(shape: tuple[int, int], train: Cells, test: Cells) -> Vector:
    """Return the standard deviation of each column over all its known cells, which do not depend on the split."""
    cols, y = np.concatenate([train.cols, test.cols]), np.concatenate([train.y, test.y])
    counts = np.bincount(cols, minlength=shape[1])
    means = np.bincount(cols, y, shape[1]) / counts
    return np.asarray(np.sqrt(np.bincount(cols, (y - means[cols]) ** 2, shape[1]) / counts))


def _held_out(observations: Callable[[], Observations], share: float) -> Splitting:
    return lambda seed: observations().split(np.random.default_rng(seed), share)


def _bundled(name: str) -> Callable[[], Observations]:
    """Return a loader of the features of one of scikit-learn's datasets."""

    def load() -> Observations:
        table: Matrix = getattr(sklearn.datasets, f"load_{name}")().data
        return from_array(table)

    return load


TABLES = {
    "MovieLens": Table(_held_out(movielens, 0.2), column_units=False, stars=True, needs_files=True),
    "mice 40 %": Table(_held_out(mice, 0.6), needs_files=True),
    "mice 10 %": Table(_held_out(mice, 0.9), needs_files=True),
    "diabetes": Table(_held_out(_bundled("diabetes"), 0.3)),
    "wine": Table(_held_out(_bundled("wine"), 0.3)),
    "breast cancer": Table(_held_out(_bundled("breast_cancer"), 0.3)),
    # The paper's first case, to see that intervals are right where the model is.
    "case 1, noise 1": Table(lambda seed: synthetic(1, 0.4, 1.0, seed), column_units=False, peers=False),
    "case 1, no noise": Table(lambda seed: synthetic(1, 0.4, 0.0, seed), column_units=False, peers=False),
}
