"""``read_table`` on files of every format, with arguments chosen at random."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from manifill.tables import read_table
from tests.fuzz.case import Case, Target, assert_documented
from tests.fuzz.tables import matrix_file, table_file

__all__ = ["READERS"]

NAMES = ("", "id", "a", "b", "userId", "movieId", "rating", "user", "item", "0", "1", "nobody", "=f()")
FOR_ALL: dict[str, tuple[Any, ...]] = {
    "duplicates": ("average",),
    "missing": ([-999], ["-999.0", "-"], ["x", "inf", "1"]),
    "max_bytes": (100, 10**9),
}
FOR_LONG: dict[str, tuple[Any, ...]] = {"wide": (False,), "row": NAMES, "col": NAMES, "value": NAMES}
FOR_WIDE: dict[str, tuple[Any, ...]] = {"wide": (True,), "id_column": NAMES}


def make(random: Random) -> Case:
    """Return a file and the arguments of ``read_table``, mostly none."""
    if random.random() < 0.3:
        name, data = matrix_file(random)
        choices = FOR_ALL if random.random() < 0.98 else FOR_WIDE
    else:
        name, data = table_file(random)
        choices = FOR_ALL | random.choice((FOR_LONG, FOR_WIDE))
    chosen = random.sample(sorted(choices), random.choice((0, 0, 0, 1, 2)))
    return Case({name: data}, {argument: random.choice(choices[argument]) for argument in chosen})


def check(folder: Path, case: Case) -> str:
    """Read the file: valid observations, or a documented error."""
    (name,) = case.files
    try:
        table = read_table(folder / name, **case.arguments)
    except ValueError as error:
        if not str(error).startswith("row, col and value"):  # about the arguments, not about the file
            assert_documented(error, name)
        return "refused"
    observations = table.observations
    rows, cols, values = observations.triples()
    m, n = observations.shape
    assert 0 < observations.size <= m * n
    assert np.isfinite(values).all()
    assert rows.max() < m
    assert cols.max() < n
    for labels, size in ((observations.row_labels, m), (observations.column_labels, n)):
        assert labels is None or (labels.dtype.kind in "iU" and len(set(labels.tolist())) == size)
    assert not any("\n" in note for note in table.notes), table.notes
    return "read"


READERS = Target("readers", make, check)
