"""Estimates of the time that chains need."""

from itertools import pairwise

import pytest

from manifill.sampling.progress_board import Line, Stage
from manifill.sampling.time_left import PASSES_PER_ITERATION, PASSES_TO_START, Outlook, TimeLeft


def warming(iteration: float) -> Line:
    return Line(Stage.WARMUP, iteration)


def timing(chains: int, iterations: int, jobs: int, products: float = 0.0) -> TimeLeft:
    """Return the time left of chains that are run to this number of iterations at once."""
    left = TimeLeft(chains, 0, jobs, products)
    left.expect(Outlook(iterations, iterations))
    return left


def test_the_recent_speed_is_that_of_the_rest() -> None:
    """A chain that has become slower, from 10 iterations per second to 1."""
    left = timing(1, 500, 1, 0.0)
    for k in range(100):
        left.estimate([warming(k)], now=0.1 * k)
    for k in range(100, 200):
        estimate = left.estimate([warming(k)], now=k - 90.0)
    assert estimate.measured
    assert estimate.seconds == pytest.approx(301.0, rel=0.02)


def test_an_iteration_that_takes_long_moves_the_estimate() -> None:
    left = timing(1, 100, 1, 0.0)
    left.estimate([warming(0)], now=0.0)
    estimates = [left.estimate([warming(1)], now=now).seconds for now in (1.0, 11.0, 21.0)]
    assert estimates == sorted(set(estimates))


def test_chains_that_wait_count_as_well() -> None:
    left = timing(4, 100, 2, 0.0)
    lines = [warming(0), warming(0), Line(), Line()]
    left.estimate(lines, now=0.0)
    estimate = left.estimate([warming(50), warming(50), Line(), Line()], now=50.0)
    assert estimate.seconds == pytest.approx(150.0, rel=0.05)


def test_the_slowest_chain_ends_last() -> None:
    left = timing(2, 100, 2, 0.0)
    left.estimate([warming(0), warming(0)], now=0.0)
    assert left.estimate([warming(90), warming(10)], now=10.0).seconds == pytest.approx(90.0)


def test_before_the_first_iteration_it_is_a_guess_of_which_the_steps_measure_the_start() -> None:
    left = timing(1, 10, 1, 1e9)
    guess = left.estimate([Line()], now=0.0)
    assert not guess.measured
    assert guess.seconds == pytest.approx(left.guess())
    left.estimate([Line(Stage.INITIALISING, initial_steps=0.0)], now=0.0)
    later = left.estimate([Line(Stage.INITIALISING, initial_steps=100.0)], now=1.0)
    assert not later.measured
    iterations = left.guess() * 10 * PASSES_PER_ITERATION / (PASSES_TO_START + 10 * PASSES_PER_ITERATION)
    assert later.seconds == pytest.approx(0.01 * (PASSES_TO_START - 100) + iterations)


def test_sweeps_of_the_start_are_timed_by_how_many_there_are() -> None:
    """A sweep takes far longer than a step of a search for the mode, of which there are hundreds."""
    left = timing(1, 10, 1)
    building = Line(Stage.INITIALISING)
    left.estimate([building], now=0.0)
    first, third = (Line(Stage.INITIALISING, initial_steps=k, initial_total=45.0) for k in (0.0, 3.0))
    left.estimate([first], now=60.0)
    assert left.estimate([third], now=66.0).seconds == pytest.approx(2.0 * (45 - 3), rel=0.01)


def test_time_that_passes_within_an_iteration_counts() -> None:
    left = timing(1, 100, 1)
    for k in range(11):
        left.estimate([warming(k)], now=10.0 * k)
    estimates = [left.estimate([warming(10)], now=100.0 + since).seconds for since in (0.0, 4.0, 8.0)]
    assert estimates == pytest.approx([900.0, 896.0, 892.0])


def test_processes_that_do_not_start_delay_the_end() -> None:
    left = timing(3, 10, 2)
    lines = [Line(), Line(), Line()]
    before = left.estimate(lines, now=0.0).seconds
    assert left.estimate(lines, now=20.0).seconds == pytest.approx(before + 0.25 * 20.0), "two of the chains could run"


def test_the_guess_falls_while_a_chain_compiles() -> None:
    """Kernels that are not compiled ahead have no count."""
    left = timing(1, 10, 1, 0.0)
    left.estimate([Line(Stage.INITIALISING, initial_steps=0.0)], now=0.0)
    left.estimate([Line(Stage.INITIALISING, initial_steps=1.0)], now=0.1)
    compiling = Line(Stage.COMPILING, initial_steps=1.0)
    estimates = [left.estimate([compiling], now=now) for now in (1.0, 11.0, 21.0, 31.0)]
    assert not any(estimate.measured for estimate in estimates)
    assert [earlier.seconds - later.seconds for earlier, later in pairwise(estimates)] == pytest.approx([10.0] * 3)
    assert left.estimate([compiling], now=600.0).seconds > estimates[-1].seconds, "it is overdue"


def test_a_chain_that_is_started_again_is_timed_again() -> None:
    left = timing(1, 100, 1, 0.0)
    for k in range(50):
        left.estimate([warming(k)], now=float(k))
    left.estimate([warming(40)], now=60.0)
    assert left.estimate([warming(41)], now=61.0).seconds == pytest.approx(59.0)


def test_nothing_is_left_in_the_end() -> None:
    left = timing(2, 100, 1, 1.0)
    assert left.estimate([Line(Stage.DONE, 100.0), Line(Stage.KILLED, 20.0)], now=0.0).seconds == 0.0


def test_a_pause_between_blocks_does_not_count() -> None:
    left = timing(1, 100, 1)
    left.estimate([warming(0)], now=0.0)
    left.estimate([warming(100)], now=100.0)
    left.expect(Outlook(200, 300))
    waiting = Line(Stage.WAITING, 100.0)
    assert left.estimate([waiting], now=1000.0).seconds == pytest.approx(200.0)
    left.estimate([warming(100)], now=1000.0)
    assert left.estimate([warming(150)], now=1025.0).seconds == pytest.approx(75.0)


def test_a_chain_that_is_done_with_a_block_stays_as_fast_as_it_was() -> None:
    left = timing(1, 100, 1)
    left.expect(Outlook(100, 300, at_most=True))
    left.estimate([warming(0)], now=0.0)
    left.estimate([warming(100)], now=100.0)
    done = Line(Stage.DONE, 100.0)
    assert left.estimate([done], now=100.0).seconds == pytest.approx(200.0)
    overdue = 0.25 * 400.0  # nobody knows what takes the time
    assert left.estimate([done], now=500.0).seconds == pytest.approx(200.0 + overdue)


def test_blocks_to_come_and_the_limit_count() -> None:
    left = timing(2, 100, 2)
    left.estimate([warming(0), warming(0)], now=0.0)
    left.expect(Outlook(100, 400, at_most=True, end=500.0))
    left.estimate([warming(0), warming(0)], now=0.0)
    estimate = left.estimate([warming(50), Line(Stage.DONE, 100.0)], now=100.0)
    assert (estimate.seconds, estimate.at_most) == (400.0, True)
    left.expect(Outlook(100, 200))
    assert not left.estimate([warming(50), Line(Stage.DONE, 100.0)], now=100.0).at_most
