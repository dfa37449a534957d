"""What a chain reports of its start, and what is shown of it."""

from pathlib import Path

import pytest

from manifill.base import progress
from manifill.base.progress import Row
from manifill.sampling.chain_rows import row
from manifill.sampling.progress_board import Board, BoardListener, Line, Stage


@pytest.mark.parametrize(
    ("line", "doing", "count"),
    [
        (Line(), "waiting", "12 s"),
        (Line(Stage.INITIALISING), "initialising", "12 s"),
        (Line(Stage.INITIALISING, initial_steps=7.0), "initialising", "7 steps, 12 s"),
        (Line(Stage.INITIALISING, initial_steps=7.0, initial_total=45.0), "initialising", "7/45, 12 s"),
        (Line(Stage.COMPILING), "compiling", "12 s"),
    ],
)
def test_before_its_iterations_a_chain_shows_for_how_long_it_has_been_in_its_stage(
    line: Line, doing: str, count: str
) -> None:
    assert row(0, line, 500, 12.4) == Row("chain 1", doing, count)


def test_a_chain_shows_its_iterations_even_if_it_waits_for_the_next_ones() -> None:
    assert row(1, Line(Stage.DRAWING, 120.0, divergences=2.0), 500, 12.4) == Row(
        "chain 2", "drawing", "120/500", 120.0, 500, "2 divergent"
    )
    assert row(1, Line(Stage.WAITING, 120.0), 500, 12.4) == Row("chain 2", "waiting", "120/500, 12 s", 120.0, 500)


def test_a_chain_reports_the_steps_of_its_start_and_how_many_there_are(tmp_path: Path) -> None:
    board = Board(tmp_path / "board", 1, create=True)
    with progress.listening(BoardListener(board, 0)):
        progress.begin("initialising")
        progress.expect(-10.0)  # of a fit of effects, in a phase whose steps are not counted
        progress.advance(3.0)
        assert (board.read(0).initial_steps, board.read(0).initial_total) == (3.0, 0.0)
        progress.begin("initialising", 45.0, "sweeps")
        progress.expect(15.0)
        progress.advance()
        assert (board.read(0).initial_steps, board.read(0).initial_total) == (1.0, 60.0)
