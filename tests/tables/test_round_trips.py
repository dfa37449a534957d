"""Properties of all tables: writing and reading is exact, and invalid text raises nothing but a ValueError."""

import string
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manifill.tables import read_table, write_table
from tests.problem.cells import dense
from tests.tables.table_files import labels

NAMES = st.text("abcdefgxyz ,;\"'\tÄ0", min_size=1, max_size=6).map(str.strip).map(lambda text: "k" + text)
NUMBERS = st.floats(allow_nan=True, allow_infinity=False)
LABELS = st.one_of(
    st.lists(st.integers(-(2**62), 2**62), min_size=2, max_size=6, unique=True),
    st.lists(NAMES, min_size=2, max_size=6, unique=True),
    st.lists(st.integers(0, 999).map("{:05d}".format), min_size=2, max_size=6, unique=True),
)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet"])
@settings(max_examples=50, deadline=None, derandomize=True)
@given(data=st.data(), rows=LABELS, cols=st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_a_wide_table_is_read_as_it_was_written(
    name: str, data: st.DataObject, rows: list[Any], cols: list[str]
) -> None:
    matrix = np.array([[data.draw(NUMBERS) for _ in cols] for _ in rows])
    matrix[0, 0] = 1.5
    with tempfile.TemporaryDirectory() as folder:
        write_table(pd.DataFrame(matrix, columns=cols).assign(id=rows), Path(folder, name))
        observations = read_table(Path(folder, name), id_column="id").observations
    np.testing.assert_array_equal(dense(observations), matrix)
    assert labels(observations) == (rows, cols)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@settings(max_examples=50, deadline=None, derandomize=True)
@given(data=st.data(), rows=LABELS, cols=LABELS)
def test_a_long_table_is_read_as_it_was_written(
    name: str, data: st.DataObject, rows: list[Any], cols: list[Any]
) -> None:
    frame = pd.DataFrame([(row, col, data.draw(NUMBERS)) for row in rows for col in cols], columns=["u", "v", "w"])
    frame.loc[0, "w"] = 1.5
    with tempfile.TemporaryDirectory() as folder:
        write_table(frame, Path(folder, name))
        observations = read_table(Path(folder, name), row="u", col="v", value="w").observations
    expected = frame.pivot(index="u", columns="v", values="w")
    np.testing.assert_array_equal(dense(observations), expected.to_numpy())
    assert labels(observations) == (sorted(rows), sorted(cols))


FIELDS = st.one_of(
    st.sampled_from(
        ["", "NA", "?", "id", "user", "item", "rating", "1", "2", "007", "1.5", "1,5", '"', "inf", "x y", "True"]
    ),
    st.text(string.printable, max_size=4),
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    lines=st.lists(st.lists(FIELDS, max_size=4), max_size=6),
    separator=st.sampled_from([",", ";", "\t"]),
    name=st.sampled_from(["t.csv", "t.tsv", "t.txt"]),
)
def test_any_text_is_a_table_or_a_value_error(lines: list[list[str]], separator: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes("\n".join(separator.join(line) for line in lines).encode())
        message = _message(path)
    assert message is None or name in message


def _message(path: Path) -> str | None:
    """Return the error message for a file, or None."""
    try:
        read_table(path)
    except ValueError as error:
        return str(error)
    return None
