"""Where chains start: on the manifold, near the data, each elsewhere."""

import numpy as np
import pytest

from manifill.likelihoods import Gaussian, Likelihood, WithNoise
from manifill.paper.cases import synthetic
from manifill.problem import Model, Observations, from_array
from manifill.problem.default_priors import scaled_noise_prior, scaled_rate_prior
from manifill.sampling.gibbs_start import gibbs_start
from manifill.sampling.starting_point import starting_point
from manifill.sampling.warm_start import warm_start
from manifill.unknowns import Unknowns
from tests.sampling.problems import LIKELIHOODS, model_for, some_observations

with_and_without_effects = pytest.mark.parametrize("effects", [False, True], ids=["plain", "effects"])


def started(
    likelihood: Likelihood, observations: Observations, rank: int, seed: int = 1, *, effects: bool = False
) -> Unknowns:
    return warm_start(np.random.default_rng(seed), observations, model_for(likelihood, rank, effects=effects))


def check_legal(start: Unknowns, shape: tuple[int, int], rank: int) -> None:
    for factor, rows in ((start.U, shape[0]), (start.V, shape[1])):
        assert factor.shape == (rows, rank)
        assert factor.flags.c_contiguous
        np.testing.assert_allclose(factor.T @ factor, np.eye(rank), rtol=0, atol=1e-13)
    assert (start.s > 0).all()
    assert all(np.isfinite(part).all() for part in (start.s, *start.effects))


@with_and_without_effects
@pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS.keys())
def test_start_is_legal(likelihood: Likelihood, effects: bool) -> None:
    start = started(likelihood, some_observations(likelihood), 3, effects=effects)
    check_legal(start, (8, 6), 3)
    assert (start.effects.row.size, start.effects.column.size) == ((8, 6) if effects else (0, 0))


@with_and_without_effects
def test_start_explains_most_of_the_data(effects: bool) -> None:
    observations = some_observations(Gaussian(), (40, 30))
    rows, cols, values = observations.triples()
    U, s, V, added, _ = started(Gaussian(), observations, 2, 2, effects=effects)
    fitted = (U * s @ V.T)[rows, cols]
    if effects:
        fitted = fitted + added.mean + added.row[rows] + added.column[cols]
    assert np.mean((values - fitted) ** 2) < 0.3 * np.mean(values**2)


@with_and_without_effects
def test_chains_start_apart_and_a_seed_repeats(effects: bool) -> None:
    observations = some_observations(Gaussian())
    first, again, other = (started(Gaussian(), observations, 2, seed, effects=effects) for seed in (1, 1, 2))
    assert np.array_equal(first.U, again.U)
    assert np.abs(first.s - other.s).max() > 1e-3


def test_sweeps_find_effects_of_many_rows() -> None:
    """Effects that start at zero get a large precision, which many rows then hold there."""
    rng = np.random.default_rng(8)
    m, n = 2000, 60
    X = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n)) / 2.0 + rng.standard_normal((m, 1))
    rows, cols = np.nonzero(rng.random((m, n)) < 0.13)
    values = X[rows, cols] + 0.5 * rng.standard_normal(len(rows))
    observations = Observations.from_triples(rows, cols, values, (m, n))
    start, noise = gibbs_start(np.random.default_rng(1), observations, model_for(Gaussian(), 2, effects=True))
    assert 0.8 < np.std(start.effects.row) < 1.2
    assert 0.4 < noise.precision**-0.5 < 0.6


AWKWARD = {
    "zeros": Observations.from_triples([0, 1, 2], [0, 1, 2], np.zeros(3)),
    "a constant": from_array(np.full((3, 3), 3.0)),
    "a constant that no float is": from_array(np.full((3, 3), 0.1)),
    "a row without cells": Observations.from_triples([0, 0, 2, 2], [0, 1, 1, 2], [1.0, 2.0, 3.0, 5.0], (3, 3)),
}


@with_and_without_effects
@pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS.keys())
@pytest.mark.parametrize("observations", AWKWARD.values(), ids=AWKWARD.keys())
def test_awkward_data_at_full_rank(observations: Observations, likelihood: Likelihood, effects: bool) -> None:
    if not likelihood.has_noise and observations.by_row.values[0] % 1.0:
        pytest.skip("a count is a whole number")
    check_legal(started(likelihood, observations, 3, 3, effects=effects), (3, 3), 3)


def test_superfluous_components_start_small_without_noise() -> None:
    """Rank 15 for a true 10: near the mode they were 6 to 9 % of the tenth, and chains kept them."""
    observations, _ = synthetic(case=1, share=0.4, noise=0.0, seed=0)
    likelihood, noise = Gaussian(), WithNoise(scaled_noise_prior(observations))
    model = Model(15, likelihood, scaled_rate_prior(15, observations, likelihood, effects=False), noise)
    s = starting_point(np.random.default_rng(1), observations, model)[0].s
    assert s[10] < 0.02 * s[9]
