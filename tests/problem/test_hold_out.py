"""Cells to hold out: single ones, whole rows or columns, and blocks."""

from typing import Any

import numpy as np
import pytest

from manifill import hold_out
from manifill.problem import from_array
from manifill.problem.hold_out import cells_to_hold_out

rng = np.random.default_rng(0)
TABLE = np.where(rng.random((40, 20)) < 0.6, rng.normal(size=(40, 20)), np.nan)
TABLE[7], TABLE[:, 3] = np.nan, np.nan
DATA = from_array(TABLE)
ROWS, COLS, _ = DATA.triples()


def chosen(amount: float, by: Any, seed: int = 0) -> Any:
    return cells_to_hold_out(np.random.default_rng(seed), DATA, amount, by)


@pytest.mark.parametrize(("amount", "cells"), [(0.1, round(0.1 * DATA.size)), (25, 25), (1, 1)])
def test_cells(amount: float, cells: int) -> None:
    assert chosen(amount, "cell").sum() == cells
    np.testing.assert_array_equal(chosen(amount, "cell"), chosen(amount, "cell"))
    assert (chosen(amount, "cell") != chosen(amount, "cell", seed=1)).any()


def test_a_share_of_the_cells_is_that_of_a_split() -> None:
    """So that a seed gives the cells that it always gave."""
    _, expected = DATA.split(np.random.default_rng(3), 0.1)
    np.testing.assert_array_equal(DATA.subset(chosen(0.1, "cell", seed=3)).triples()[2], expected.triples()[2])


@pytest.mark.parametrize(("by", "index", "known"), [("row", ROWS, 39), ("column", COLS, 19)])
@pytest.mark.parametrize(("amount", "share"), [(0.2, 0.2), (3, None), (0.001, None)])
def test_whole_rows_and_columns(by: str, index: Any, known: int, amount: float, share: float | None) -> None:
    """Those without cells are not counted, and at least one is held out."""
    mask = chosen(amount, by)
    count = round(share * known) if share else max(int(amount), 1)
    assert np.unique(index[mask]).size == count
    assert not np.isin(index[~mask], index[mask]).any()


def test_a_block_hides_what_its_rows_and_columns_share() -> None:
    mask = chosen(0.25, "block")
    rows, cols = np.unique(ROWS[mask]), np.unique(COLS[mask])
    assert rows.size in (19, 20)  # half of 39
    assert cols.size in (9, 10)
    np.testing.assert_array_equal(mask, np.isin(ROWS, rows) & np.isin(COLS, cols))
    assert 0.15 < mask.mean() < 0.35
    assert 0.5 * 60 < chosen(60, "block").sum() < 2.0 * 60


@pytest.mark.parametrize(
    ("amount", "by", "message"),
    [
        (39, "row", "leaves 0 cells to fit"),
        (10**6, "cell", "leaves 0 cells to fit"),
        (10**6, "block", "leaves 0 cells to fit"),
        (1e-9, "cell", "and 0 cells to check"),
        (-0.1, "cell", "amount must be a share above 0 and below 1, or a whole number, not -0.1"),
        (1.5, "row", "amount must be"),
        (float("nan"), "cell", "amount must be"),
        (0.1, "user", "by must be one of 'cell', 'row', 'column', 'block', not 'user'"),
    ],
)
def test_refusal(amount: float, by: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        chosen(amount, by)


def test_the_public_function_divides_every_form_of_data() -> None:
    train, held_out = hold_out(TABLE, 0.2, by="row", seed=1)
    assert train.size + held_out.size == DATA.size
    assert train.shape == held_out.shape == TABLE.shape
    again = hold_out(DATA, 0.2, by="row", seed=1)[1]
    np.testing.assert_array_equal(held_out.triples()[2], again.triples()[2])
