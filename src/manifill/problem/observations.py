"""Observed cells of a matrix: validated triples, compressed by row and by column."""

from dataclasses import dataclass
from operator import index
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from manifill.base import progress
from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Array, Generator, IntVector, Vector
from manifill.base.wording import counted
from manifill.kernels.compressed import Compressed
from manifill.problem.cell_names import CellNames
from manifill.problem.label_lookup import as_indices, located

__all__ = ["Duplicates", "Observations"]

Duplicates = Literal["error", "average"]

LARGEST_SIZE = 2**31 - 1  # indices are held in 32 bits

# Checks, sorting, averages of duplicates, and the cells by row and by column; and a guess of the seconds per cell.
SORTING_STEPS, SORTING_SECONDS = 5, 5e-7


@dataclass(frozen=True, eq=False)
class Observations:
    """N observed cells of an m×n matrix.

    Build one with ``from_triples`` or with the functions of :mod:`manifill.problem.convert`, which validate.  Every
    cell is stored once by row and once by column, 24 bytes in total.
    """

    shape: tuple[int, int]
    by_row: Compressed
    by_column: Compressed
    row_labels: Array | None = None
    column_labels: Array | None = None

    @classmethod
    def from_triples(
        cls,
        rows: ArrayLike,
        cols: ArrayLike,
        values: ArrayLike,
        shape: tuple[int, int] | None = None,
        *,
        row_labels: Array | None = None,
        column_labels: Array | None = None,
        duplicates: Duplicates = "error",
    ) -> "Observations":
        """Return the cells (rows[k], cols[k]) with values[k].

        ``shape`` defaults to the smallest that holds all cells.  A cell given more than once is an error, unless
        ``duplicates="average"``, which takes the mean of its values.
        """
        if duplicates not in ("error", "average"):
            raise ValueError(f"duplicates must be 'error' or 'average', not {duplicates!r}.")
        progress.begin("sorting cells", SORTING_STEPS, "steps", guess=SORTING_SECONDS * np.size(values))
        row_index, col_index, value = as_indices("rows", rows), as_indices("cols", cols), _as_values(values)
        _check_lengths(row_index, col_index, value)
        m, n = _checked_shape(shape, row_index, col_index)
        _check_labels("row_labels", row_labels, m)
        _check_labels("column_labels", column_labels, n)
        labels = row_labels, column_labels
        progress.advance()
        row_index, col_index, value = _without_duplicates(row_index, col_index, value, n, duplicates, labels)
        by_row = _compress(row_index, col_index, value, m)
        by_column = _compress(col_index, row_index, value, n)
        return cls((m, n), by_row, by_column, row_labels, column_labels)

    @property
    def size(self) -> int:
        """Number of observed cells, N."""
        return len(self.by_row.values)

    def triples(self) -> tuple[IntVector, IntVector, Vector]:
        """Return rows, columns and values, sorted by row and then by column."""
        return self.by_row.major_indices, self.by_row.indices, self.by_row.values

    def with_values(self, values: Vector) -> "Observations":
        """Return the same cells with other values, in the order of ``triples``."""
        rows, cols, _ = self.triples()
        return Observations.from_triples(
            rows, cols, values, self.shape, row_labels=self.row_labels, column_labels=self.column_labels
        )

    def subset(self, cells: Array) -> "Observations":
        """Return the cells at these positions (or under this mask) of ``triples``, with the same shape and labels."""
        rows, cols, values = (part[cells] for part in self.triples())
        return Observations.from_triples(
            rows, cols, values, self.shape, row_labels=self.row_labels, column_labels=self.column_labels
        )

    def split(self, rng: Generator, held_out: float = 0.2) -> tuple["Observations", "Observations"]:
        """Split the observed cells at random: the fraction ``held_out`` for validation, the rest for training."""
        if not 0.0 < held_out < 1.0:
            raise ValueError(
                f"held_out is the fraction of observed cells to hold out, above 0 and below 1, not {held_out}."
            )
        count = round(held_out * self.size)
        if not 0 < count < self.size:
            raise ValueError(
                f"held_out={held_out} of {counted(self.size, 'observed cell')} leaves one side empty; hold out more, "
                "or less."
            )
        return self._split_by_count(rng, self.size - count, count)

    def split_cells(self, rng: Generator, train: float, validate: float = 0.4) -> tuple["Observations", "Observations"]:
        """Split as in the paper: fractions ``train`` and ``validate`` of all m·n cells to train and to validate."""
        cells = self.shape[0] * self.shape[1]
        shares = train * cells, validate * cells
        if not (min(shares) >= 1.0 and round(shares[0]) + round(shares[1]) <= self.size):
            raise ValueError(
                f"train={train} and validate={validate} ask for {shares[0]:.0f} and {shares[1]:.0f} of {cells} cells, "
                f"but only {self.size} {'is' if self.size == 1 else 'are'} observed; choose smaller fractions above 0."
            )
        return self._split_by_count(rng, round(shares[0]), round(shares[1]))

    def _split_by_count(self, rng: Generator, train: int, validate: int) -> tuple["Observations", "Observations"]:
        order = rng.permutation(self.size)
        return self.subset(np.sort(order[:train])), self.subset(np.sort(order[train : train + validate]))

    def row_indices(self, labels: ArrayLike) -> IntVector:
        """Return the index of each row label, or check row indices if the rows have no labels."""
        return located("rows", labels, self.row_labels, self.shape[0])

    def column_indices(self, labels: ArrayLike) -> IntVector:
        """Return the index of each column label, or check column indices if the columns have no labels."""
        return located("cols", labels, self.column_labels, self.shape[1])


def _as_values(given: ArrayLike) -> Vector:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"values must be numbers: {error}.") from None
    if values.ndim != 1:
        raise ValueError(f"values must be a list of numbers, not an array of shape {values.shape}.")
    broken = np.flatnonzero(~np.isfinite(values))
    if broken.size:
        raise ValueError(
            f"values[{broken[0]}] is {values[broken[0]]}; leave unobserved cells out, or give finite numbers."
        )
    return values


def _check_lengths(rows: IntVector, cols: IntVector, values: Vector) -> None:
    if not len(rows) == len(cols) == len(values):
        raise ValueError(
            f"rows, cols and values must have the same length, not {len(rows)}, {len(cols)} and {len(values)}."
        )
    if len(values) == 0:
        raise ValueError("values is empty: at least one observed cell is needed.")


def _checked_shape(shape: tuple[int, int] | None, rows: IntVector, cols: IntVector) -> tuple[int, int]:
    needed = int(rows.max()) + 1, int(cols.max()) + 1
    if max(needed) > LARGEST_SIZE:
        raise ValueError(
            f"rows and cols hold indices up to {max(needed) - 1}, too large for a matrix; if they are labels, "
            "give a DataFrame with columns for row, column and value instead."
        )
    if shape is None:
        return needed
    try:
        m, n = (index(size) for size in shape)
    except (TypeError, ValueError):
        raise ValueError(f"shape must be a pair of whole numbers (rows, columns), not {shape!r}.") from None
    for name, size, least in (("rows", m, needed[0]), ("cols", n, needed[1])):
        if least > size:
            raise ValueError(
                f"{name} holds the index {least - 1}, outside shape=({m}, {n}); give a shape of at least {needed}."
            )
    return m, n


def _check_labels(name: str, labels: Array | None, size: int) -> None:
    if labels is not None and labels.shape != (size,):
        found = len(labels) if labels.ndim == 1 else f"an array of shape {labels.shape}"
        raise ValueError(f"{name} must hold {counted(size, 'label')}, one for each, not {found}.")


def _without_duplicates(
    rows: IntVector,
    cols: IntVector,
    values: Vector,
    n: int,
    duplicates: Duplicates,
    labels: tuple[Array | None, Array | None],
) -> tuple[IntVector, IntVector, Vector]:
    """Return the cells sorted by row and column; duplicates are averaged, or raise a ValueError."""
    key = rows * n + cols
    order = np.argsort(key, kind="stable")
    progress.advance()
    key, values = key[order], values[order]
    is_first = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=is_first[1:])
    if not is_first.all():
        if duplicates == "error":
            cell = CellNames(row_labels=labels[0], column_labels=labels[1]).cell(
                *divmod(int(key[np.flatnonzero(~is_first)[0]]), n)
            )
            raise ValueError(
                Wording(
                    f"the cell ({cell}) is given more than once; pass ",
                    Argument("duplicates", "average"),
                    " to take the mean of such values.",
                )
            )
        starts = np.flatnonzero(is_first)
        values = np.add.reduceat(values, starts) / np.diff(np.append(starts, len(key)))
        key = key[starts]
    sorted_rows, sorted_cols = np.divmod(key, n)
    progress.advance()
    return sorted_rows, sorted_cols, values


def _compress(major: IntVector, minor: IntVector, values: Vector, size: int) -> Compressed:
    starts = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(major, minlength=size), out=starts[1:])
    order = np.argsort(major, kind="stable")
    compressed = Compressed(starts, minor[order].astype(np.int32), np.ascontiguousarray(values[order]))
    progress.advance()
    return compressed
