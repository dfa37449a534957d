"""The data that all sections of a report use: the fitted model, labels, and predictions for the whole matrix."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from manifill.base.arrays import Array, Generator, IntVector, Matrix, Vector
from manifill.estimators.matrix_completion import MatrixCompletion
from manifill.posterior import Draws, complete, enough_draws, predict
from manifill.problem import Observations
from manifill.report.display_labels import display_labels
from manifill.report.formatting import format_interval
from manifill.run.seeds import Stream, generator
from manifill.run.table_names import TableNames, table_names

__all__ = ["CellPredictions", "Cells", "ReportData", "collect_report_data"]

# Upper limit of cells × draws for the predictions of the whole matrix, which is half a minute's work.  Larger matrices
# use fewer draws, but at least FEWEST_DRAWS.
LARGEST_WORK, FEWEST_DRAWS = 2_000_000_000, 100

PLAIN_LIMIT = 1e6  # larger numbers are printed with four significant digits


class Cells(NamedTuple):
    """Indices of some cells, (k,) each."""

    rows: IntVector
    cols: IntVector


class CellPredictions(NamedTuple):
    """Predictive mean and bounds of the 90 % interval for some cells, (k,) each."""

    cells: Cells
    mean: Vector
    lower: Vector
    upper: Vector


@dataclass(frozen=True, eq=False)
class ReportData:
    """A fitted model and its predictions for every cell.

    If the fit divided the columns by their spreads, the columns have different units.  They are then compared as
    deviations from their means in units of their spreads.
    """

    model: MatrixCompletion
    held_out: Observations | None
    names: TableNames
    row_labels: list[str]
    column_labels: list[str]
    mean: Matrix  # (m, n), in the units of the data
    sd: Matrix  # (m, n)
    draws_used: int  # for mean and sd

    @property
    def draws(self) -> Draws:
        """The posterior draws."""
        return self.model.posterior_

    @property
    def observations(self) -> Observations:
        """The cells of the fit."""
        return self.model.observations_

    @property
    def is_scaled(self) -> bool:
        """Whether the columns have different units."""
        return self.draws.column_scales.ndim > 0

    @property
    def spreads(self) -> Vector:
        """Spread of each column, (n,); 1 if all columns have the same unit."""
        return np.broadcast_to(self.draws.column_scales, self.mean.shape[1])

    @cached_property
    def centres(self) -> Vector:
        """Mean of each column, (n,); 0 if all columns have the same unit."""
        return self.mean.mean(axis=0) if self.is_scaled else np.zeros(self.mean.shape[1])

    @cached_property
    def unobserved(self) -> Array:
        """Mask of the cells that are not in the fit, (m, n)."""
        rows, cols, _ = self.observations.triples()
        mask = np.ones(self.mean.shape, dtype=bool)
        mask[rows, cols] = False
        return mask

    @cached_property
    def number_format(self) -> str:
        """Format of values, for Python and Plotly: two significant digits of the median standard deviation."""
        typical, largest = float(np.median(self.sd)), float(np.abs(self.mean).max())
        is_plain = typical > 1.0 / PLAIN_LIMIT and largest < PLAIN_LIMIT
        if self.is_scaled or not is_plain:
            return ".4g"
        return f".{max(1 - int(np.floor(np.log10(typical))), 0)}f"

    def format(self, value: float) -> str:
        """Return a value as text."""
        return f"{value:{self.number_format}}".replace("-", "−")

    def standardise(self, values: Array, cols: Any = slice(None)) -> Array:
        """Return values of these columns (all by default) on a scale that is comparable between columns."""
        return np.asarray((values - self.centres[cols]) / self.spreads[cols])

    def rng(self, key: int) -> Generator:
        """Return a generator for one purpose; every report on the run gets the same one."""
        return generator(self.draws.attributes["seed"], Stream.REPORT, key)

    def predict(self, *groups: Cells) -> list[CellPredictions]:
        """Return predictions with 90 % intervals for several groups of cells, reading the draws once."""
        sizes = [cells.rows.size for cells in groups]
        rows, cols = (np.concatenate(parts) for parts in zip(*groups, strict=True))
        found = predict(self.rng(0), self.draws, self.model.model_.likelihood, rows, cols)
        numbers = np.split(np.stack([found.mean, found.lower, found.upper]), np.cumsum(sizes)[:-1], axis=1)
        return [CellPredictions(cells, *parts) for cells, parts in zip(groups, numbers, strict=True)]

    def prediction_rows(self, predictions: CellPredictions) -> list[tuple[str, str, str, str]]:
        """Return one table row per cell: row label, column label, mean and interval."""
        numbers = zip(*predictions.cells, predictions.mean, predictions.lower, predictions.upper, strict=True)
        return [
            (
                self.row_labels[i],
                self.column_labels[j],
                self.format(mean),
                format_interval(self.format(lower), self.format(upper)),
            )
            for i, j, mean, lower, upper in numbers
        ]


def collect_report_data(model: MatrixCompletion, held_out: Observations | None) -> ReportData:
    """Return the data for a report on this model."""
    observations, draws = model.observations_, model.posterior_
    m, n = observations.shape
    if held_out is not None and held_out.shape != (m, n):
        raise ValueError(
            f"held_out has the shape {held_out.shape}, the fit {(m, n)}; pass held-out cells of the same matrix."
        )
    used = enough_draws(draws, m * n).thinned(max(LARGEST_WORK // (m * n), FEWEST_DRAWS))
    mean, sd = complete(used, model.model_.likelihood)
    return ReportData(
        model=model,
        held_out=held_out,
        names=table_names(draws.attributes),
        row_labels=display_labels(observations.row_labels, m),
        column_labels=display_labels(observations.column_labels, n),
        mean=mean,
        sd=sd,
        draws_used=used.chains * used.draws,
    )
