"""Where chains start: on the manifold, near the data, each elsewhere."""

import numpy as np
import pytest

from manifill.problem import Gaussian, Likelihood, Observations
from manifill.sampling.start import warm_start
from tests.sampling.problems import LIKELIHOODS, some_observations


@pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS.keys())
def test_start_is_legal(likelihood: Likelihood) -> None:
    U, s, V = warm_start(np.random.default_rng(1), some_observations(likelihood), likelihood, 3)
    for factor, rows in ((U, 8), (V, 6)):
        assert factor.shape == (rows, 3)
        assert factor.flags.c_contiguous
        np.testing.assert_allclose(factor.T @ factor, np.eye(3), rtol=0, atol=1e-13)
    assert (s > 0).all()


def test_start_explains_most_of_the_data() -> None:
    observations = some_observations(Gaussian(), (40, 30))
    rows, cols, values = observations.triples()
    U, s, V = warm_start(np.random.default_rng(2), observations, Gaussian(), 2)
    residual = values - ((U * s) @ V.T)[rows, cols]
    assert np.mean(residual**2) < 0.3 * np.mean(values**2)


def test_chains_start_apart_and_a_seed_repeats() -> None:
    observations = some_observations(Gaussian())
    first, again, other = (warm_start(np.random.default_rng(seed), observations, Gaussian(), 2) for seed in (1, 1, 2))
    assert np.array_equal(first.U, again.U)
    assert np.abs(first.s - other.s).max() > 1e-3


def test_full_rank_and_zero_data() -> None:
    zeros = Observations.from_triples([0, 1, 2], [0, 1, 2], np.zeros(3))
    start = warm_start(np.random.default_rng(3), zeros, Gaussian(), 3)
    assert all(np.isfinite(part).all() for part in start)
    assert (start.s > 0).all()
