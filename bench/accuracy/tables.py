"""The tables of the benchmark and their splits, which are the same for all methods."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sklearn.datasets
from problems import TRIALS, mice, movielens, synthetic

from manifill import ConvergenceWarning, MatrixCompletion
from manifill.base.arrays import Array, IntVector, Matrix, Vector
from manifill.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian
from manifill.problem import Observations, from_array

SPLITS = 5
GAUSSIAN = Gaussian()

# Of the fit that simulated values come from.
FIT_TO_SIMULATE: dict[str, Any] = {"chains": 1, "draws": 100}

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
    likelihood: Likelihood = GAUSSIAN  # of this package; its peers have none

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
    likelihood: Likelihood = GAUSSIAN

    def load(self, number: int) -> Split:
        """Return split ``number``, which is also the seed."""
        train, test = self.split(number)
        parts = Cells(*train.triples()), Cells(*test.triples())
        units = _column_spreads(train.shape, *parts) if self.column_units else np.ones(train.shape[1])
        return Split(train.shape, *parts, units, self.stars, self.likelihood)


def _column_spreads(shape: tuple[int, int], train: Cells, test: Cells) -> Vector:
    """Return the standard deviation of each column over all its known cells, which do not depend on the split."""
    cols, y = np.concatenate([train.cols, test.cols]), np.concatenate([train.y, test.y])
    counts = np.bincount(cols, minlength=shape[1])
    means = np.bincount(cols, y, shape[1]) / counts
    return np.asarray(np.sqrt(np.bincount(cols, (y - means[cols]) ** 2, shape[1]) / counts))


def _held_out(observations: Callable[[], Observations], share: float) -> Splitting:
    return lambda seed: observations().split(np.random.default_rng(seed), share)


def _simulated(split: Splitting) -> Splitting:
    """Return splits of the same cells with values drawn from the model as fitted to the training cells.

    Nothing but chance and the estimation of parameters that cells of a column share then makes intervals miss.
    """

    def simulate(seed: int) -> tuple[Observations, Observations]:
        parts = split(seed)
        model = MatrixCompletion(seed=seed, progress=False, **FIT_TO_SIMULATE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # one draw is enough
            model.fit(*parts[0].triples(), shape=parts[0].shape)
        rows, cols, _ = (np.concatenate(values) for values in zip(*(part.triples() for part in parts), strict=True))
        values = model.sample_posterior_predictive(rows, cols, draws=1)[0]
        train, test = np.split(values, [parts[0].size])
        return parts[0].with_values(train), parts[1].with_values(test)

    return simulate


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
    # To see how many columns miss by a binomial test if the model is right.
    "mice 40 %, simulated": Table(_simulated(_held_out(mice, 0.6)), needs_files=True, peers=False),
    "mice 10 %, simulated": Table(_simulated(_held_out(mice, 0.9)), needs_files=True, peers=False),
}

# The paper's synthetic cases, to see that the verdict is green, and that intervals are right where the model is.
SYNTHETIC: list[tuple[str, int, float, float, Likelihood]] = [
    ("case 1, no noise", 1, 0.4, 0.0, GAUSSIAN),
    ("case 1, noise 1", 1, 0.4, 1.0, GAUSSIAN),
    ("case 2 S-SVD, 10 %", 2, 0.1, 0.3, SoftplusGaussian()),
    ("case 2 S-SVD, 40 %", 2, 0.4, 0.3, SoftplusGaussian()),
    ("case 2 SVD, 10 %", 2, 0.1, 0.3, GAUSSIAN),
    ("case 2 SVD, 40 %", 2, 0.4, 0.3, GAUSSIAN),
    ("case 3 B-SVD, 10 %", 3, 0.1, 0.0, Binomial(TRIALS)),
    ("case 3 B-SVD, 40 %", 3, 0.4, 0.0, Binomial(TRIALS)),
]
TABLES |= {
    name: Table(partial(synthetic, case, share, noise), column_units=False, peers=False, likelihood=likelihood)
    for name, case, share, noise, likelihood in SYNTHETIC
}
