"""How often healthy and faulty chains are green: a small part of ``verdict_rates``, and its whole as a long test."""

import numpy as np
import pytest

from manifill.posterior.chain_agreement import RELEVANT, agreement, needed_ess, safe_ess
from manifill.posterior.quantities import summaries
from tests.posterior.fast_sizes import fast_summaries
from tests.posterior.verdict_rates import (
    FAULTY,
    HEALTHY,
    SHORT,
    Fault,
    Setting,
    count_green,
    count_green_as_advised,
    count_unnoticed,
    simulated,
)

# At most 2 % of healthy runs may be called bad, and at least 95 % of faulty ones must be.  At exactly these shares, so
# many of 40 healthy runs and of 200 faulty ones are exceeded with a probability of 1 % or less.
MOST_BAD, MOST_MISSED = 3, 18

# The comparison of chains alone misses 10 % at exactly the needed size; more than 31 of 200 by chance: 0.6 %.
ALONE_MISSED = 31


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
    draws = setting.draws_for(needed_ess(20, 4))
    families = [np.stack(list(simulated(rng, setting, draws).values())) for _ in range(200)]
    assert sum(bool(np.any(agreement(family, 20).excess > 1.0)) for family in families) <= 4  # more: 0.3 % by chance


def test_averages_of_skewed_quantities_are_compared_as_rarely_wrong_and_noticed() -> None:
    """Probabilities near 0 or 1, as of values below the bound of an interval; in 200 families one is expected."""
    rng, draws = np.random.default_rng(0), round(needed_ess(20, 4) / 4)
    families = rng.beta(0.1, 1.9, (200, 20, 4, draws))
    averaged = np.ones(20, dtype=bool)
    wrong = [bool(np.any(agreement(family, 20, averaged).excess > 1.0)) for family in families]
    assert sum(wrong) <= 4  # more: 0.3 % by chance
    families[:, 0, 1] += RELEVANT * families.std()
    missed = [agreement(family[:1], 20, averaged[:1]).excess[0] <= 1.0 for family in families]
    assert sum(missed) <= ALONE_MISSED


@pytest.mark.parametrize("chains", [1, 2, 4, 8])
def test_more_quantities_need_more_draws(chains: int) -> None:
    sizes = [needed_ess(count, chains) for count in (1, 20, 200)]
    assert sizes == sorted(sizes)
    assert 1.0 < sizes[2] / sizes[0] < 2.5
    if chains == 4:
        assert sizes[1:] == pytest.approx([719.0, 878.0], rel=0.001)  # docs/math.md


@pytest.mark.parametrize("needed", [450.0, 719.0, 1469.0])
def test_the_more_estimates_the_more_draws_are_safe(needed: float) -> None:
    safe = [safe_ess(needed, count) for count in (1, 20, 200)]
    assert safe == sorted(safe)
    for size, quantile in zip(safe, (2.807034, 3.662260, 4.214800), strict=True):  # of 1 − 0.005 / (2 Q)
        assert size * np.exp(-quantile * np.sqrt(24.0 / size)) == pytest.approx(needed, rel=1e-6)


@pytest.mark.parametrize("correlation", [0.0, 0.8, 0.95])
@pytest.mark.parametrize("draws", [50, 501])
def test_fast_sizes_are_those_of_arviz(correlation: float, draws: int) -> None:
    series = simulated(np.random.default_rng(0), Setting(10, correlation), draws)
    pairs = zip(fast_summaries(series), summaries(series), strict=True)
    sizes = np.array([(fast.ess_bulk, fast.ess_tail, q.ess_bulk, q.ess_tail) for fast, q in pairs])
    np.testing.assert_allclose(sizes[:, :2], sizes[:, 2:], rtol=1e-10)


def test_chance_makes_an_estimate_too_small_as_rarely_as_stated() -> None:
    """In 50 families of 200 independent healthy quantities at most a quarter of one family is expected to have one."""
    rng = np.random.default_rng(0)
    setting = Setting(200, 0.0, shared=0.0)
    least = [min(q.ess_bulk for q in fast_summaries(simulated(rng, setting, setting.draws))) for _ in range(50)]
    assert sum(np.array(least) < needed_ess(200, 4)) <= 2  # more: 0.2 % by chance


@pytest.mark.parametrize("one_slow", [False, True])
def test_the_recommended_draws_make_a_run_green(one_slow: bool) -> None:
    assert count_green_as_advised(Setting(20, 0.5, one_slow=one_slow), 40) >= 40 - MOST_BAD


@pytest.mark.statistical
@pytest.mark.parametrize("setting", HEALTHY, ids=str)
def test_healthy_runs_are_green(setting: Setting) -> None:
    """Of 200 healthy runs more than 9 are wrong with a probability of 1 % or less."""
    found = count_green(setting, 200, seed=1)
    print("green of 200:", found)
    assert min(found) >= 200 - 9


@pytest.mark.statistical
@pytest.mark.parametrize("fault", [Fault.DISPLACED, Fault.STUCK])
@pytest.mark.parametrize("setting", FAULTY, ids=str)
def test_faults_are_noticed(setting: Setting, fault: Fault) -> None:
    found = count_unnoticed(setting._replace(fault=fault), 200, seed=1)
    print("missed of 200:", found)
    assert max(found) <= MOST_MISSED


@pytest.mark.statistical
@pytest.mark.parametrize("setting", SHORT, ids=str)
def test_recommendations_make_runs_green(setting: Setting) -> None:
    assert count_green_as_advised(setting, 200, seed=1) >= 200 - 9
