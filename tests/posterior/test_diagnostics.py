"""Diagnostics on chains whose state is known."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from manifill.likelihoods import Gaussian
from manifill.posterior import Colour, Diagnostics, Draws, UseVerdict, diagnose, diagnosed_series
from manifill.posterior.diagnostics import LATE_TREES
from manifill.sampling.warmup_schedule import TREES_END, WINDOW_ENDS
from tests.posterior.runs import ALL_KINDS, M, N, random_run


def diagnosed(draws: Draws) -> Diagnostics:
    return diagnose(draws, diagnosed_series(np.random.default_rng(0), draws, Gaussian()))


def changed(draws: Draws, name: str, change: Callable[[Any], Any]) -> Draws:
    """Return the draws with one variable changed."""
    return replace(draws, posterior={**draws.posterior, name: change(draws.posterior[name].copy())})


def with_statistic(draws: Draws, name: str, values: Any) -> Draws:
    return replace(draws, statistics={**draws.statistics, name: values})


def shift_first_chain(values: Any) -> Any:
    values[0] += 3.0
    return values


def reasons_of(found: UseVerdict, colour: Colour = Colour.RED) -> str:
    """Return the reasons of a verdict that must have this colour."""
    assert found.colour == colour, found.sentence
    assert found.sentence.startswith(f"{found.use.capitalize()} are {colour}: ")
    assert all(reason in found.sentence for reason in found.reasons)
    return "; ".join(found.reasons)


@pytest.fixture(scope="module")
def good() -> Draws:
    return random_run([500] * 4)


def test_independent_chains_are_green(good: Draws) -> None:
    diagnostics = diagnosed(good)
    assert diagnostics.converged, diagnostics.verdict
    assert diagnostics.all_converged, diagnostics.verdict
    assert diagnostics.verdict.startswith("Predictions are green: ")
    assert "Global quantities are green: " in diagnostics.verdict
    assert diagnostics.reasons == ()
    assert (diagnostics.chains, diagnostics.draws) == (4, 500)
    lp = next(q for q in diagnostics.quantities if q.name == "lp")
    assert lp.mean == pytest.approx(good.statistics["lp"].mean())
    assert lp.sd == pytest.approx(good.statistics["lp"].std())
    # Standard errors of the effective size of 2000 independent draws are about a tenth of it.
    assert 1000 < lp.ess_bulk < 3000
    assert 1000 < lp.ess_tail < 3000
    assert lp.monte_carlo_error == pytest.approx(lp.sd / lp.ess_bulk**0.5)
    correlation = diagnostics.autocorrelation["lp"]
    assert correlation.shape == (51,)
    assert correlation[0] == 1.0
    assert np.abs(correlation[1:]).max() < 0.15  # 6.7 standard errors of a mean of four


@pytest.mark.parametrize("name", ["lp", "lambda"])
def test_a_shifted_chain_in_a_nuisance_is_named_and_leaves_predictions_green(good: Draws, name: str) -> None:
    if name == "lp":
        draws = with_statistic(good, "lp", shift_first_chain(good.statistics["lp"].copy()))
    else:
        draws = changed(good, name, shift_first_chain)
    found = diagnosed(draws)
    assert found.converged
    assert not found.all_converged
    reasons = reasons_of(found.global_quantities)
    assert "chain 1 is " in reasons
    assert f"standard deviations away from the other chains in {name}, more than the" in reasons
    assert f"the effective sample size of {name} is" in reasons


@pytest.mark.parametrize("name", ["s", "sigma"])
def test_a_shifted_chain_in_what_predictions_are_made_of_is_red(good: Draws, name: str) -> None:
    found = diagnosed(changed(good, name, shift_first_chain))
    assert "chain 1 is " in reasons_of(found.predictions)


def test_a_single_noisy_column_is_found() -> None:
    draws = random_run([500] * 4, variables=ALL_KINDS["U s V, effects, noise by column"])

    def shift(sigma: Any) -> Any:
        sigma[2, :, 3] += 1.0
        return sigma

    assert diagnosed(draws).all_converged
    found = diagnosed(changed(draws, "sigma", shift))
    assert "chain 3 is " in reasons_of(found.predictions)
    assert "in sigma[3]" in reasons_of(found.predictions)
    assert "in largest sigma" in reasons_of(found.global_quantities)


def test_a_component_that_is_on_in_one_chain_is_no_matter_of_predictions_if_cells_agree(good: Draws) -> None:
    """A third component that is tiny in every cell: its singular value is bimodal, X is not."""
    rng = np.random.default_rng(0)
    on = np.where(np.arange(4)[:, None] == 2, 0.02, 0.01) + 1e-3 * rng.normal(size=(4, 500))
    extra = {name: np.linalg.qr(rng.normal(size=(4, 500, size, 3)))[0] for name, size in (("U", M), ("V", N))}
    posterior = {name: np.concatenate([good.posterior[name], extra[name][..., :1]], axis=-1) for name in extra}
    for name, factor in posterior.items():  # orthonormal to the others, as a sampler's is
        posterior[name] = (
            np.linalg.qr(factor)[0] * np.sign(np.linalg.qr(factor)[1][..., [0, 1, 2], [0, 1, 2]])[:, :, None]
        )
    posterior["s"] = np.concatenate([good.posterior["s"], on[..., None]], axis=-1)
    found = diagnosed(replace(good, posterior={**good.posterior, **posterior}))
    assert found.converged, found.verdict
    assert "chain 3 is " in reasons_of(found.global_quantities)
    assert "singular_value[2]" in reasons_of(found.global_quantities)


def test_a_chain_of_another_scale_is_named(good: Draws) -> None:
    lp = good.statistics["lp"].copy()
    lp[0] *= 5.0
    assert "away from the other chains in lp" in reasons_of(diagnosed(with_statistic(good, "lp", lp)).global_quantities)


def test_chains_that_change_together_are_found(good: Draws) -> None:
    lp = good.statistics["lp"] + np.where(np.arange(500) < 250, 0.0, 0.6)
    reasons = reasons_of(diagnosed(with_statistic(good, "lp", lp)).global_quantities)
    assert "the second halves of the chains are " in reasons
    assert "away from the first halves in lp" in reasons


def test_chains_that_drift_together_are_red(good: Draws) -> None:
    lp = good.statistics["lp"] + np.linspace(0.0, 2.0, 500)
    reasons = reasons_of(diagnosed(with_statistic(good, "lp", lp)).global_quantities)
    assert " and more warmup)" in reasons


def test_signs_and_order_of_components_do_not_matter(good: Draws) -> None:
    posterior = dict(good.posterior)
    for name in ("U", "V", "s"):
        posterior[name] = posterior[name].copy()
        posterior[name][0] = posterior[name][0, ..., ::-1] * (1.0 if name == "s" else -1.0)
    assert diagnosed(replace(good, posterior=posterior)).all_converged


def test_a_slow_chain_needs_more_draws(good: Draws) -> None:
    rng = np.random.default_rng(0)
    lp = np.empty((4, 500))
    lp[:, 0] = rng.normal(size=4)
    for k in range(1, 500):
        lp[:, k] = 0.8 * lp[:, k - 1] + np.sqrt(1 - 0.8**2) * rng.normal(size=4)
    found = diagnosed(with_statistic(good, "lp", lp)).global_quantities
    assert "the effective sample size of lp is" in reasons_of(found, Colour.AMBER)
    assert f"(take draws={found.advised_draws})" in found.sentence
    # The effective size is about a ninth of 2000.  For four quantities 612 are needed, and with 1007 it is safe.
    assert 1000 < found.needed_draws < found.advised_draws < 4000


def test_what_the_user_fixed_is_left_out(good: Draws) -> None:
    diagnostics = diagnosed(changed(good, "sigma", lambda sigma: 0.0 * sigma + 0.1))
    assert diagnostics.all_converged
    assert "sigma" not in [q.name for q in diagnostics.quantities]


def test_sigma_fixed_at_a_different_value_in_each_chain_is_not(good: Draws) -> None:
    stuck = changed(good, "sigma", lambda sigma: 0.0 * sigma + np.arange(4.0)[:, None])
    assert "sigma never moved (take more warmup" in reasons_of(diagnosed(stuck).predictions)


def test_a_chain_that_is_stuck_is_named(good: Draws) -> None:
    def stick(sigma: Any) -> Any:
        sigma[1] = np.median(sigma)
        return sigma

    assert "sigma never moved in chain 2 (" in reasons_of(diagnosed(changed(good, "sigma", stick)).predictions)


def test_chains_that_never_move_are_red(good: Draws) -> None:
    posterior = {name: np.repeat(np.repeat(v[:1, :1], 4, 0), 500, 1) for name, v in good.posterior.items()}
    found = diagnosed(replace(good, posterior=posterior))
    assert "and 23 more never moved" in reasons_of(found.predictions)
    assert "singular_value[0] and 1 more never moved" in reasons_of(found.global_quantities)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_quantity_that_is_not_finite_is_named(good: Draws, value: float) -> None:
    lp = good.statistics["lp"].copy()
    lp[1, 7] = value
    assert "lp had draws that are not finite" in reasons_of(diagnosed(with_statistic(good, "lp", lp)).global_quantities)


@pytest.mark.parametrize(
    ("count", "predictions", "whole"),
    [(2, Colour.GREEN, Colour.AMBER), (3, Colour.AMBER, Colour.AMBER), (21, Colour.RED, Colour.RED)],
)
def test_divergences_are_counted(good: Draws, count: int, predictions: Colour, whole: Colour) -> None:
    diverging = np.zeros((4, 500))
    diverging[2, :count] = 1.0
    found = diagnosed(with_statistic(good, "diverging", diverging))
    assert f"{count} of 2000 draws diverged (raise target_acceptance)" in reasons_of(found.global_quantities, whole)
    assert found.predictions.colour == predictions
    assert found.divergences == count


@pytest.mark.parametrize(("cut", "green"), [(20, True), (21, False)])
def test_one_draw_in_a_hundred_may_reach_the_depth_limit(good: Draws, cut: int, green: bool) -> None:
    reached = np.zeros((4, 500))
    reached.flat[:cut] = 1.0
    diagnostics = diagnosed(with_statistic(good, "reached_max_depth", reached))
    assert diagnostics.depth_limit_share == pytest.approx(cut / 2000)
    assert diagnostics.converged
    assert diagnostics.all_converged == green
    assert ("raise max_depth" in diagnostics.verdict) != green


def test_trees_looked_at_are_those_that_lengths_are_learned_from() -> None:
    assert (WINDOW_ENDS[-1], TREES_END) == LATE_TREES


@pytest.mark.parametrize(("first", "share"), [(0, 0.0), (10, 0.5)], ids=["early", "late"])
def test_trees_cut_late_in_warm_up_count(good: Draws, first: int, share: float) -> None:
    """The default sampler has no trees later on."""
    reached = np.zeros((4, 20))
    reached[:, first : first + 2] = 1.0
    diagnostics = diagnosed(replace(good, warmup_statistics={"reached_max_depth": reached}))
    assert diagnostics.depth_limit_share == pytest.approx(share)
    assert ("50.0% of the trees reached the depth limit (raise max_depth" in diagnostics.verdict) == (share > 0)


def test_a_sampler_without_trees_needs_no_tree_statistics(good: Draws) -> None:
    diagnostics = diagnosed(replace(good, statistics={"lp": good.statistics["lp"]}))
    assert diagnostics.all_converged
    assert (diagnostics.divergences, diagnostics.depth_limit_share) == (0, 0.0)


def test_one_chain_is_never_green_and_is_judged_by_its_halves() -> None:
    lone = random_run([1000])
    diagnostics = diagnosed(lone)
    assert diagnostics.predictions.reasons == ("one chain cannot show that chains agree (run several, chains=4)",)
    assert diagnostics.predictions.colour == Colour.AMBER
    lp = lone.statistics["lp"].copy()
    lp[0, 500:] += 3.0
    shifted = diagnosed(with_statistic(lone, "lp", lp))
    assert "the second halves of the chain" in reasons_of(shifted.global_quantities)


@pytest.mark.parametrize("chains", [1, 2])
@pytest.mark.parametrize("draws", [1, 2, 7])
def test_few_draws_are_too_few_to_tell(chains: int, draws: int) -> None:
    found = diagnosed(random_run([draws] * chains))
    for each in (found.predictions, found.global_quantities):
        assert "too few to judge (take more draws)" in reasons_of(each)


def test_each_table_starts_with_its_verdict_and_the_worst(good: Draws) -> None:
    diagnostics = diagnosed(with_statistic(good, "lp", shift_first_chain(good.statistics["lp"].copy())))
    first, second = str(diagnostics).split("\n\nGlobal")
    assert first.splitlines()[0] == diagnostics.predictions.sentence
    assert first.splitlines()[-1] == f"and {len(diagnostics.predictions.quantities) - 10} more with a smaller R-hat"
    assert second.splitlines()[3].split()[0] == "lp"
    assert len(second.splitlines()) == 3 + len(diagnostics.global_quantities.quantities)
