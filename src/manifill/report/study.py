"""What the sections of a report share: the run, its labels, and the whole matrix as the model predicts it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from manifill.estimator import MatrixCompletion
from manifill.posterior import Draws, complete, enough_draws, predict
from manifill.problem import Observations
from manifill.report.labels import Names, names_of, shown_labels
from manifill.report.words import span
from manifill.types import Array, Generator, IntVector, Matrix, Vector

__all__ = ["Answer", "Cells", "Study", "study_of"]

# Products of cells and draws that the whole matrix may cost, half a minute's work; beyond, fewer draws do for it.
LARGEST_WORK, FEWEST_DRAWS = 2_000_000_000, 100

# Children of the seed that nothing else takes: chains have 0, 1, …, and the estimator some above 2³⁰.
REPORT_KEY = 1 << 31

PLAIN_LIMIT = 1e6  # larger numbers are told by their leading digits


class Cells(NamedTuple):
    """Cells by their indices, one row and one column each."""

    rows: IntVector
    cols: IntVector


class Answer(NamedTuple):
    """What the model says of some cells: the mean, and bounds that a value falls between with probability 0.9."""

    cells: Cells
    mean: Vector
    lower: Vector
    upper: Vector


@dataclass(frozen=True, eq=False)
class Study:
    """A fitted model, and what it says of every cell.

    Columns that were divided by their spreads for the fit have units of their own, and are compared from their means in
    units of these spreads.
    """

    model: MatrixCompletion
    held_out: Observations | None
    names: Names
    row_labels: list[str]
    column_labels: list[str]
    mean: Matrix  # (m, n), in the data's units
    sd: Matrix  # (m, n)
    draws_used: int  # for mean and sd

    @property
    def draws(self) -> Draws:
        """What the chains drew."""
        return self.model.posterior_

    @property
    def observations(self) -> Observations:
        """What was fitted."""
        return self.model.observations_

    @property
    def is_scaled(self) -> bool:
        """Whether columns have units of their own."""
        return self.draws.column_scales.ndim > 0

    @property
    def spreads(self) -> Vector:
        """The units that columns are compared in, (n,); 1 where they share one."""
        return np.broadcast_to(self.draws.column_scales, self.mean.shape[1])

    @cached_property
    def centres(self) -> Vector:
        """What columns are compared from, (n,): their means, or 0 where they share a unit."""
        return self.mean.mean(axis=0) if self.is_scaled else np.zeros(self.mean.shape[1])

    @cached_property
    def unobserved(self) -> Array:
        """Whether a cell was left for the model to fill in, (m, n)."""
        rows, cols, _ = self.observations.triples()
        mask = np.ones(self.mean.shape, dtype=bool)
        mask[rows, cols] = False
        return mask

    @cached_property
    def form(self) -> str:
        """How to print a value, for Python and for Plotly: with two digits of a usual standard deviation."""
        usual, largest = float(np.median(self.sd)), float(np.abs(self.mean).max())
        is_plain = usual > 1.0 / PLAIN_LIMIT and largest < PLAIN_LIMIT
        if self.is_scaled or not is_plain:
            return ".4g"
        return f".{max(1 - int(np.floor(np.log10(usual))), 0)}f"

    def say(self, value: float) -> str:
        """Return a value as the page prints it."""
        return f"{value:{self.form}}".replace("-", "−")

    def relative(self, values: Array, cols: Any = slice(None)) -> Array:
        """Return values of these columns, of all by default, so that they can be compared."""
        return np.asarray((values - self.centres[cols]) / self.spreads[cols])

    def rng(self, key: int) -> Generator:
        """Return a generator for one purpose, the same in every report on the run."""
        seed = np.random.SeedSequence(self.draws.attributes["seed"], spawn_key=(REPORT_KEY, key))
        return np.random.default_rng(seed)

    def ask(self, *questions: Cells) -> list[Answer]:
        """Return what the model says of the cells of each question, with 90 % intervals; the draws are read once."""
        sizes = [cells.rows.size for cells in questions]
        rows, cols = (np.concatenate(parts) for parts in zip(*questions, strict=True))
        found = predict(self.rng(0), self.draws, self.model.model_.likelihood, rows, cols)
        numbers = np.split(np.stack([found.mean, found.lower, found.upper]), np.cumsum(sizes)[:-1], axis=1)
        return [Answer(cells, *parts) for cells, parts in zip(questions, numbers, strict=True)]

    def told(self, answer: Answer) -> list[tuple[str, str, str, str]]:
        """Return a line for each cell of an answer: its labels, the mean and the interval."""
        numbers = zip(*answer.cells, answer.mean, answer.lower, answer.upper, strict=True)
        return [
            (self.row_labels[i], self.column_labels[j], self.say(mean), span(self.say(lower), self.say(upper)))
            for i, j, mean, lower, upper in numbers
        ]


def study_of(model: MatrixCompletion, held_out: Observations | None) -> Study:
    """Return what a report on this model is made of."""
    observations, draws = model.observations_, model.posterior_
    m, n = observations.shape
    if held_out is not None and held_out.shape != (m, n):
        raise ValueError(f"held_out has the shape {held_out.shape}, the fit {(m, n)}; hold out cells of one matrix.")
    used = enough_draws(draws, m * n).thinned(max(LARGEST_WORK // (m * n), FEWEST_DRAWS))
    mean, sd = complete(used, model.model_.likelihood)
    return Study(
        model=model,
        held_out=held_out,
        names=names_of(draws.attributes),
        row_labels=shown_labels(observations.row_labels, m),
        column_labels=shown_labels(observations.column_labels, n),
        mean=mean,
        sd=sd,
        draws_used=used.chains * used.draws,
    )
