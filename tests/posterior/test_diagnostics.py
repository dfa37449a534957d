"""Diagnostics on chains whose state is known."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from manifill.posterior import Diagnostics, Draws, diagnose, identified_quantities
from tests.posterior.runs import ALL_KINDS, M, N, dense_draws, random_run


def diagnosed(draws: Draws) -> Diagnostics:
    return diagnose(np.random.default_rng(0), draws, ("sigma",))


def changed(draws: Draws, name: str, change: Callable[[Any], Any]) -> Draws:
    """Return the draws with one variable changed."""
    return replace(draws, posterior={**draws.posterior, name: change(draws.posterior[name].copy())})


def with_statistic(draws: Draws, name: str, values: Any) -> Draws:
    return replace(draws, statistics={**draws.statistics, name: values})


def shift_first_chain(values: Any) -> Any:
    values[0] += 3.0
    return values


def reasons_of(draws: Draws) -> str:
    diagnostics = diagnosed(draws)
    assert not diagnostics.converged
    assert diagnostics.verdict.startswith("Not converged: ")
    assert all(reason in diagnostics.verdict for reason in diagnostics.reasons)
    return "; ".join(diagnostics.reasons)


@pytest.fixture(scope="module")
def good() -> Draws:
    return random_run([500] * 4)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_identified_quantities_are_those_of_x(kind: str) -> None:
    """With effects X is the whole matrix: its singular values are those of both parts together."""
    draws = random_run([6, 6], variables=ALL_KINDS[kind])
    parameters = ("sigma",) if "sigma" in draws.posterior else ()
    quantities = identified_quantities(np.random.default_rng(0), draws, parameters, cells=M * N)
    X, sigma = dense_draws(draws)
    expected = np.linalg.svd(X, compute_uv=False)
    for c in range(4 if "mu" in draws.posterior else 2):
        np.testing.assert_allclose(quantities[f"singular_value[{c}]"].ravel(), expected[:, c], rtol=1e-10)
    for i in range(M):
        for j in range(N):
            np.testing.assert_allclose(quantities[f"X[{i},{j}]"].ravel(), X[:, i, j], rtol=1e-12)
    np.testing.assert_array_equal(quantities["lp"], draws.statistics["lp"])
    assert ("sigma" in quantities) == ("sigma" in draws.posterior)
    if "sigma" in quantities:
        size = sigma if sigma.ndim == 1 else np.sqrt(np.mean(sigma**2, axis=1))
        np.testing.assert_allclose(quantities["sigma"].ravel(), size, rtol=1e-12)
    assert all(values.shape == (2, 6) for values in quantities.values())


def test_cells_are_chosen_by_the_generator() -> None:
    draws = random_run([3])
    first, second, other = (set(identified_quantities(np.random.default_rng(k), draws, cells=5)) for k in (1, 1, 2))
    assert first == second != other
    assert sum(name.startswith("X[") for name in first) == 5


def test_independent_chains_have_converged(good: Draws) -> None:
    diagnostics = diagnosed(good)
    assert diagnostics.converged, diagnostics.verdict
    assert diagnostics.verdict.startswith("Converged: ")
    assert diagnostics.reasons == ()
    assert (diagnostics.chains, diagnostics.draws) == (4, 500)
    lp = next(q for q in diagnostics.quantities if q.name == "lp")
    assert lp.mean == pytest.approx(good.statistics["lp"].mean())
    assert lp.sd == pytest.approx(good.statistics["lp"].std())
    # Standard errors of the effective size of 2000 independent draws are about a tenth of it.
    assert 1000 < lp.ess_bulk < 3000
    assert 1000 < lp.ess_tail < 3000
    correlation = diagnostics.autocorrelation["lp"]
    assert correlation.shape == (51,)
    assert correlation[0] == 1.0
    assert np.abs(correlation[1:]).max() < 0.15  # 6.7 standard errors of a mean of four


def test_a_shifted_chain_is_named(good: Draws) -> None:
    reasons = reasons_of(with_statistic(good, "lp", shift_first_chain(good.statistics["lp"].copy())))
    assert "R-hat of lp is" in reasons
    assert "ESS of lp is" in reasons


def test_a_chain_of_another_scale_is_named(good: Draws) -> None:
    lp = good.statistics["lp"].copy()
    lp[0] *= 5.0
    assert "R-hat of lp is" in reasons_of(with_statistic(good, "lp", lp))


def test_a_chain_with_another_x_is_found(good: Draws) -> None:
    assert "R-hat of " in reasons_of(changed(good, "s", shift_first_chain))


def test_signs_and_order_of_components_do_not_matter(good: Draws) -> None:
    posterior = dict(good.posterior)
    for name in ("U", "V", "s"):
        posterior[name] = posterior[name].copy()
        posterior[name][0] = posterior[name][0, ..., ::-1] * (1.0 if name == "s" else -1.0)
    assert diagnosed(replace(good, posterior=posterior)).converged


def test_a_slow_chain_needs_more_draws(good: Draws) -> None:
    rng = np.random.default_rng(0)
    lp = np.empty((4, 500))
    lp[:, 0] = rng.normal(size=4)
    for k in range(1, 500):
        lp[:, k] = 0.95 * lp[:, k - 1] + np.sqrt(1 - 0.95**2) * rng.normal(size=4)
    assert "bulk ESS of lp is" in reasons_of(with_statistic(good, "lp", lp))


def test_a_fixed_sigma_is_left_out(good: Draws) -> None:
    diagnostics = diagnosed(changed(good, "sigma", lambda sigma: 0.0 * sigma + 0.1))
    assert diagnostics.converged
    assert "sigma" not in [q.name for q in diagnostics.quantities]


def test_sigma_fixed_at_a_different_value_in_each_chain_is_not(good: Draws) -> None:
    stuck = changed(good, "sigma", lambda sigma: 0.0 * sigma + np.arange(4.0)[:, None])
    assert "R-hat of sigma is" in reasons_of(stuck)


def test_chains_that_never_move_have_not_converged(good: Draws) -> None:
    posterior = {name: np.repeat(np.repeat(v[:1, :1], 4, 0), 500, 1) for name, v in good.posterior.items()}
    assert "singular_value[0] and 25 more never moved" in reasons_of(replace(good, posterior=posterior))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_quantity_that_is_not_finite_is_named(good: Draws, value: float) -> None:
    lp = good.statistics["lp"].copy()
    lp[1, 7] = value
    assert "lp gave no R-hat or ESS" in reasons_of(with_statistic(good, "lp", lp))


def test_divergences_are_counted(good: Draws) -> None:
    diverging = np.zeros((4, 500))
    diverging[2, :3] = 1.0
    draws = with_statistic(good, "diverging", diverging)
    assert "3 of 2000 draws diverged (raise the target acceptance)" in reasons_of(draws)
    assert diagnosed(draws).divergences == 3


@pytest.mark.parametrize(("cut", "converged"), [(20, True), (21, False)])
def test_one_draw_in_a_hundred_may_reach_the_depth_limit(good: Draws, cut: int, converged: bool) -> None:
    reached = np.zeros((4, 500))
    reached.flat[:cut] = 1.0
    diagnostics = diagnosed(with_statistic(good, "reached_max_depth", reached))
    assert diagnostics.depth_limit_share == pytest.approx(cut / 2000)
    assert diagnostics.converged == converged
    assert ("raise the maximum depth" in diagnostics.verdict) != converged


@pytest.mark.parametrize(("first", "share"), [(0, 0.0), (14, 0.5)], ids=["early", "late"])
def test_trees_cut_late_in_warm_up_count(good: Draws, first: int, share: float) -> None:
    """The default sampler has no trees later on."""
    reached = np.zeros((4, 20))
    reached[:, first : first + 3] = 1.0
    diagnostics = diagnosed(replace(good, warmup_statistics={"reached_max_depth": reached}))
    assert diagnostics.depth_limit_share == pytest.approx(share)
    assert ("50.0% of the trees reached the depth limit (raise the maximum" in diagnostics.verdict) == (share > 0)


def test_a_sampler_without_trees_needs_no_tree_statistics(good: Draws) -> None:
    diagnostics = diagnosed(replace(good, statistics={"lp": good.statistics["lp"]}))
    assert diagnostics.converged
    assert (diagnostics.divergences, diagnostics.depth_limit_share) == (0, 0.0)


def test_one_chain_is_judged_by_its_halves_and_says_so() -> None:
    lone = random_run([1000])
    diagnostics = diagnosed(lone)
    assert diagnostics.converged, diagnostics.verdict
    assert "one chain cannot show that chains agree" in diagnostics.verdict
    lp = lone.statistics["lp"].copy()
    lp[0, 500:] += 3.0
    assert "R-hat of lp is" in reasons_of(with_statistic(lone, "lp", lp))


@pytest.mark.parametrize("chains", [1, 2])
@pytest.mark.parametrize("draws", [1, 2, 7])
def test_few_draws_are_too_few_to_tell(chains: int, draws: int) -> None:
    assert "too few to diagnose" in reasons_of(random_run([draws] * chains))


def test_the_table_starts_with_the_verdict_and_the_worst(good: Draws) -> None:
    diagnostics = diagnosed(with_statistic(good, "lp", shift_first_chain(good.statistics["lp"].copy())))
    lines = str(diagnostics).splitlines()
    assert lines[0] == diagnostics.verdict
    assert lines[3].split()[0] == "lp"
    assert lines[-1] == f"and {len(diagnostics.quantities) - 10} more with a smaller R-hat"
