"""Components of a given rank that left-out cells do not need."""

from dataclasses import replace

import numpy as np
import pytest

from manifill.base.arrays import Matrix
from manifill.problem import Model, Observations, from_array
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.held_out_trials import Trials, divided
from manifill.sampling.rank_search import FIRST, MARGIN, needed_rank
from manifill.sampling.rank_search import needed_components as needed_components_of
from tests.sampling.test_rank_search import model_of, table

GIVEN = 30


def observed(rank: int, noise: float = 0.2, shape: tuple[int, int] = (150, 40)) -> Observations:
    return from_array(table(shape, rank, noise, share=0.6))


def by_leading(gains: list[float], noise: float, seed: int = 0) -> Matrix:
    """Return log densities of 2000 cells that grow by these amounts with each component."""
    rng = np.random.default_rng(seed)
    steps = np.asarray(gains)[:, None] + noise * rng.normal(size=(len(gains), 2000))
    return np.vstack([np.zeros(2000), np.cumsum(steps, axis=0)])


def needed_components(log_densities: Matrix) -> int:
    return needed_components_of(log_densities, log_densities.shape[1])


def test_components_are_needed_up_to_the_last_that_raises_the_density() -> None:
    assert needed_components(by_leading([0.2, 0.1, 0.05, 0.0, 0.0], noise=0.0)) == 3
    assert needed_components(by_leading([0.2, 0.0, 0.05, -0.01, 0.0], noise=0.0)) == 3
    assert needed_components(by_leading([0.2, 0.1], noise=0.0)) == 2
    assert needed_components(by_leading([0.0, 0.001, 0.0], noise=0.0)) == 1  # at least one


def test_gains_within_a_standard_error_are_none() -> None:
    """The error of a gain is 0.1 / √2000 = 0.0022; 0.03 is 13 of them, and −0.01 is −4, whatever the noise."""
    for seed in range(20):
        assert needed_components(by_leading([0.03, 0.03, -0.01, -0.01], noise=0.1, seed=seed)) == 2


def test_the_leading_components_add_up_to_the_matrix() -> None:
    observations, rng = observed(3), np.random.default_rng(0)
    parts = divided(rng, observations)
    assert parts is not None
    trials = Trials(*parts)
    state, _ = Factors(model_of(observations, 5), trials.train).start(rng)
    (left, right), (rows, cols, _) = state.factors(), parts[1].triples()
    found = [x.copy() for x in trials._by_leading(state)]
    assert len(found) == 6
    np.testing.assert_allclose(found[-1], (left[rows] * right[cols]).sum(axis=1), atol=1e-10)
    np.testing.assert_allclose(found[0], (left[rows, 5:] * right[cols, 5:]).sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("rank", [2, 8])
def test_needed_components_are_kept_and_most_others_are_not(rank: int) -> None:
    observations = observed(rank)
    kept = needed_rank(np.random.default_rng(0), observations, model_of(observations, GIVEN))
    assert rank <= kept <= 2 * MARGIN * max(rank, FIRST)
    assert kept < GIVEN


def test_nothing_is_dropped_if_everything_is_needed_or_there_are_few_cells() -> None:
    observations = observed(18, noise=0.05, shape=(300, 60))
    assert needed_rank(np.random.default_rng(0), observations, model_of(observations, 18)) == 18
    few = from_array(table((12, 10), 2, noise=0.1, share=0.9))
    assert needed_rank(np.random.default_rng(0), few, model_of(few, 9)) == 9


@pytest.mark.parametrize(("columns", "kept_all"), [(24, True), (60, False)])
def test_a_narrow_table_keeps_all_if_it_needs_most(columns: int, kept_all: bool) -> None:
    observations = observed(9, shape=(200, columns))
    kept = needed_rank(np.random.default_rng(0), observations, model_of(observations, 23))
    assert (kept == 23) == kept_all


def test_columns_without_cells_do_not_count() -> None:
    """A rank of 20 is possible for 400×40, but only 18 columns have cells."""
    values = table((400, 18), 17, noise=0.02, share=0.9)
    observations = from_array(np.hstack([values, np.full((400, 22), np.nan)]))
    assert needed_rank(np.random.default_rng(0), observations, model_of(observations, 20)) <= 20


def test_the_rest_is_the_given_model_with_the_dropped_components_zero() -> None:
    """Densities at the same A, B, precisions, noise and effects differ by a constant: the exact conditional."""
    observations = observed(3)
    given = model_of(observations, 20)
    kept = replace(given, rank=4)
    differences = [_density(given, kept, observations, seed) for seed in range(5)]
    np.testing.assert_allclose(differences, differences[0], atol=1e-7)


def _density(given: Model, kept: Model, observations: Observations, seed: int) -> float:
    """Return the log density of the given model, with further components zero, minus that of the kept one."""
    rng = np.random.default_rng(seed)
    state, _ = Factors(kept, observations).start(rng)
    ones, further = np.ones(given.rank - kept.rank), given.rank - kept.rank
    A, B = (np.hstack([side, np.zeros((len(side), further))]) for side in (state.A, state.B))
    taus = state.left_precision, state.right_precision
    more = tuple(np.append(tau, ones) for tau in taus)
    wide = given.factors_log_density(0.0, state.noise, A, B, state.effects, (more[0], more[1]))
    return wide - kept.factors_log_density(0.0, state.noise, state.A, state.B, state.effects, taus)
