"""Names of cells in sentences."""

import numpy as np

from manifill.problem import CellNames
from manifill.problem.cell_names import label_text

LABELS = np.array(["ann", "bob, jr.", "x" * 50 + "1", "x" * 50 + "2"], dtype=object)


def test_cells_have_labels_or_numbers() -> None:
    names = CellNames("user", "film", LABELS, None)
    assert names.cell(0, 7) == "user ann, film 7"
    assert names.cell(1, 7) == "user 'bob, jr.', film 7"
    assert CellNames().cell(3, 4) == "row 3, column 4"
    assert CellNames("station", "film", np.array(["Station 7"], dtype=object)).cell(0, 7) == "Station 7, film 7"


def test_labels_that_would_break_a_line_are_quoted() -> None:
    assert label_text("a\nb") == r"'a\nb'"
    assert label_text("\x1b[31mred") == r"'\x1b[31mred'"
    assert label_text("") == "''"
    assert label_text(" a") == "' a'"
    assert label_text(np.datetime64("2024-01-01T00:00:00.000000000")) == "2024-01-01"


def test_long_labels_lose_their_middle() -> None:
    found = label_text(LABELS[2])
    assert len(found) == 40
    assert found.endswith("xxx1")
    assert "…" in found


def test_names_are_distinct_even_if_labels_look_alike() -> None:
    rows = np.array([0, 1])
    names = CellNames(row_labels=np.array([1, "1"], dtype=object)).cells(rows, np.array([5, 5]))
    assert names == ["row 1, column 5 (index 0, 5)", "row 1, column 5 (index 1, 5)"]
    assert len(set(CellNames(row_labels=LABELS).cells(np.arange(4), np.zeros(4, dtype=np.int64)))) == 4
