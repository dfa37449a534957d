"""Writes small input files, and compares what was read."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manifill.base.arrays import Matrix
from manifill.problem import Observations
from tests.problem.cells import dense


def put(folder: Path, content: str | bytes, name: str = "table.csv") -> Path:
    """Write a file, compressed if its name ends in .gz, and return its path."""
    data = content.encode() if isinstance(content, str) else content
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def labels(observations: Observations) -> tuple[list[Any] | None, list[Any] | None]:
    """Return the labels of rows and columns as lists."""
    rows, cols = observations.row_labels, observations.column_labels
    return None if rows is None else rows.tolist(), None if cols is None else cols.tolist()


def assert_holds(observations: Observations, matrix: Matrix | Sequence[Sequence[float]]) -> None:
    """Check that exactly these cells are observed; unobserved cells are NaN."""
    np.testing.assert_array_equal(dense(observations), matrix)
