"""How often healthy and faulty chains are green: a small part of ``verdict_rates``, and its whole as a long test."""

import numpy as np
import pytest

from manifill.posterior.chain_agreement import agreement, needed_ess
from tests.posterior.verdict_rates import CHAINS, SETTINGS, Fault, Setting, count_green, count_unnoticed, simulated

# At most 2 % of healthy runs may be called bad, and at least 95 % of faulty ones must be.  At exactly these shares, so
# many of 40 healthy runs and of 200 faulty ones are exceeded with a probability of 1 % or less.
MOST_BAD, MOST_MISSED = 3, 18


def test_healthy_chains_are_green() -> None:
    found = count_green(Setting(20, 0.3, Fault.NONE), 40)
    assert 40 >= found.auto >= found.fixed >= 40 - MOST_BAD


@pytest.mark.parametrize("fault", [Fault.DISPLACED, Fault.STUCK])
@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_a_displaced_or_stuck_chain_is_noticed(fault: Fault, correlation: float) -> None:
    found = count_unnoticed(Setting(50, correlation, fault), 200)
    assert max(found) <= MOST_MISSED


@pytest.mark.parametrize("fault", [Fault.DISPLACED, Fault.STUCK])
def test_what_is_noticed_is_not_green(fault: Fault) -> None:
    assert count_green(Setting(20, 0.0, fault), 20).auto <= 3  # more: 1.6 % by chance, if 5 % are missed


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_chance_exceeds_the_bound_as_rarely_as_stated(correlation: float) -> None:
    """In 200 families of 20 healthy quantities one is expected to have a chain beyond the bound, by Bonferroni."""
    rng = np.random.default_rng(0)
    setting = Setting(20, correlation, Fault.NONE)
    draws = setting.draws_for(1.0)
    families = [np.stack(list(simulated(rng, setting, draws).values())) for _ in range(200)]
    assert sum(bool(np.any(agreement(family, 20).excess > 1.0)) for family in families) <= 4  # more: 0.3 % by chance


@pytest.mark.parametrize("chains", [1, 2, 4, 8])
def test_more_quantities_need_more_draws(chains: int) -> None:
    sizes = [needed_ess(count, chains) for count in (1, 20, 200)]
    assert sizes == sorted(sizes)
    assert 1.0 < sizes[2] / sizes[0] < 2.5
    if chains == CHAINS:
        assert sizes[1] == pytest.approx(770.0, rel=0.01)  # docs/math.md


@pytest.mark.statistical
@pytest.mark.parametrize(("quantities", "correlation"), SETTINGS)
def test_rates_over_many_settings(quantities: int, correlation: float) -> None:
    """Of 200 healthy runs more than 9 are wrong with a probability of 1 % or less."""
    healthy, displaced, stuck = (Setting(quantities, correlation, fault) for fault in Fault)
    found = (
        count_green(healthy, 200, seed=1),
        count_unnoticed(displaced, 200, seed=1),
        count_unnoticed(stuck, 200, seed=1),
    )
    print("green of 200:", *found)
    assert min(found[0]) >= 200 - 9
    assert max(found[1].auto, found[2].auto) <= MOST_MISSED
