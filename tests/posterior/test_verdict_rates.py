"""How often healthy and faulty chains are green: a small part of ``verdict_rates``, and its whole as a long test."""

import numpy as np
import pytest

from manifill.posterior.chain_agreement import agreement, needed_ess
from tests.posterior.verdict_rates import CHAINS, Fault, Setting, count_green, simulated

# At most 2 % of healthy runs may be called bad, and at least 95 % of faulty ones must be.  At exactly these shares, so
# many of 40 or more are exceeded with a probability of 1 %.
MOST_BAD, MOST_MISSED = 3, 6


@pytest.mark.parametrize("looks", [False, True], ids=["fixed length", "repeated looks"])
def test_healthy_chains_are_green(looks: bool) -> None:
    assert count_green(Setting(20, 0.3, Fault.NONE), 40, looks=looks) >= 40 - MOST_BAD


@pytest.mark.parametrize("looks", [False, True], ids=["fixed length", "repeated looks"])
@pytest.mark.parametrize("fault", [Fault.DISPLACED, Fault.STUCK])
def test_a_displaced_or_stuck_chain_is_noticed(fault: Fault, looks: bool) -> None:
    assert count_green(Setting(20, 0.3, fault), 40, looks=looks) <= MOST_MISSED


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_chance_exceeds_the_bound_as_rarely_as_stated(correlation: float) -> None:
    """In 100 families of 20 healthy quantities one is expected to have a chain beyond the bound, by Bonferroni."""
    rng = np.random.default_rng(0)
    setting = Setting(20, correlation, Fault.NONE)
    draws = setting.draws_for(1.0)
    families = [np.stack(list(simulated(rng, setting, draws).values())) for _ in range(100)]
    assert sum(bool(np.any(agreement(family).excess > 1.0)) for family in families) <= 4  # more: 0.3 % by chance


@pytest.mark.parametrize("chains", [1, 2, 4, 8])
def test_more_quantities_need_more_draws(chains: int) -> None:
    sizes = [needed_ess(count, chains) for count in (1, 20, 200)]
    assert sizes == sorted(sizes)
    assert 1.0 < sizes[2] / sizes[0] < 2.5
    if chains == CHAINS:
        assert sizes[1] == pytest.approx(722.0, rel=0.01)  # docs/math.md


@pytest.mark.statistical
@pytest.mark.parametrize("looks", [False, True], ids=["fixed length", "repeated looks"])
@pytest.mark.parametrize(("quantities", "correlation"), [(20, 0.0), (20, 0.8), (60, 0.5), (200, 0.0)])
def test_rates_over_many_settings(quantities: int, correlation: float, looks: bool) -> None:
    """At the stated shares, more than 9 of 200 healthy or 18 of 200 faulty runs are wrong with a probability of 1 %."""
    healthy, displaced, stuck = (
        count_green(Setting(quantities, correlation, fault), 200, looks=looks, seed=1) for fault in Fault
    )
    print(f"green of 200: {healthy} healthy, {displaced} displaced, {stuck} stuck")
    assert healthy >= 200 - 9
    assert displaced <= 18
    assert stuck <= 18
