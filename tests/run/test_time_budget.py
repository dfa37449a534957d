"""Blocks that are cut so that they end in time."""

from manifill.run.time_budget import PROBE, TimeBudget

WARMUP = 100.0  # seconds


class Chains:
    """Chains that take some seconds for warm-up and for each draw, by a clock of their own."""

    def __init__(self, seconds: float) -> None:
        self.time, self.seconds = 0.0, seconds
        self.stops: list[int] = []

    def run_to(self, draws: int) -> bool:
        if not self.stops:
            self.time += WARMUP
        self.time += self.seconds * (draws - (self.stops or [0])[-1])
        self.stops.append(draws)
        return True

    def clock(self) -> float:
        return self.time


def test_without_a_limit_a_block_is_one_stretch() -> None:
    chains = Chains(1.0)
    budget = TimeBudget(None, chains.clock)
    assert budget.run(chains.run_to, 0, 250) == 250
    assert chains.stops == [250]
    assert not budget.is_spent


def test_a_block_that_fits_is_drawn_to_its_end() -> None:
    chains = Chains(1.0)
    budget = TimeBudget(10.0, chains.clock)
    assert budget.run(chains.run_to, 0, 250) == 250
    assert budget.run(chains.run_to, 250, 313) == 313


def test_a_block_that_does_not_fit_is_cut() -> None:
    chains = Chains(1.0)
    budget = TimeBudget(10.0, chains.clock)
    drawn = budget.run(chains.run_to, 0, 5000)
    assert 0.9 * 500 <= drawn <= 500
    assert chains.stops[-1] == drawn
    assert chains.time <= 600.0
    later = budget.run(chains.run_to, drawn, 5000)
    assert chains.time <= 600.0
    assert later < drawn + 2 * PROBE


def test_a_slower_speed_is_noticed() -> None:
    """Chains of which the later draws take four times as long."""
    chains = Chains(0.1)
    budget = TimeBudget(10.0, chains.clock)
    assert budget.run(chains.run_to, 0, 1000) == 1000
    chains.seconds = 0.4
    drawn = budget.run(chains.run_to, 1000, 1500)
    assert drawn == 1500
    assert budget.run(chains.run_to, 1500, 5000) < 2100
    assert chains.time <= 600.0


def test_warm_up_and_the_first_draws_are_always_made() -> None:
    chains = Chains(1.0)
    budget = TimeBudget(0.1, chains.clock)
    assert budget.run(chains.run_to, 0, 250) == PROBE
    assert chains.stops == [0, PROBE]
    assert budget.is_spent


def test_chains_that_were_stopped_are_not_run_again() -> None:
    stops: list[int] = []

    def stopped(draws: int) -> bool:
        stops.append(draws)
        return False

    assert TimeBudget(10.0).run(stopped, 0, 250) == 0
    assert stops == [0]
