"""The best columns for a row, against all draws of all cells."""

import numpy as np
import pytest

from manifill import Gaussian
from manifill.base.arrays import Array
from manifill.posterior import Draws, Ranking, predict, rank_columns, ranking
from tests.posterior.runs import dense_draws, random_run

ROW, CANDIDATES = 2, np.array([0, 2, 3])


def ranked(draws: Draws, number: int) -> Ranking:
    return rank_columns(np.random.default_rng(0), draws, Gaussian(), ROW, CANDIDATES, number)


def expected_values(draws: Draws) -> Array:
    """Return what each draw expects of all candidates, (chain, draw, candidate)."""
    X = dense_draws(draws)[0].reshape(draws.chains, draws.draws, *draws.shape)
    return X[:, :, ROW][..., CANDIDATES]


@pytest.mark.parametrize(("enough", "kept"), [(100, range(7)), (6, [0, 2, 4])])
def test_some_draws_of_each_chain_give_probabilities_and_all_draws_the_rest(
    enough: int, kept: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "ENOUGH_DRAWS", enough)
    draws = random_run([7, 7])
    expected, sigma = expected_values(draws), dense_draws(draws)[1]
    every = expected.reshape(-1, CANDIDATES.size)
    best = np.argsort(-every.mean(axis=0))[:2]
    some = expected[:, list(kept)].reshape(-1, CANDIDATES.size)
    among = np.sort(np.argsort(-some, axis=1)[:, :2], axis=1)
    found = ranked(draws, 2)
    np.testing.assert_array_equal(found.columns, CANDIDATES[best])
    np.testing.assert_allclose(found.mean, every.mean(axis=0)[best])
    np.testing.assert_allclose(found.sd, np.sqrt(every.var(axis=0)[best] + np.square(sigma).mean()))
    np.testing.assert_allclose(found.probability, [(among == k).any(axis=1).mean() for k in best])


def test_figures_are_those_of_predict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "ENOUGH_DRAWS", 2)
    draws = random_run([7, 7])
    found = ranked(draws, 2)
    alone = predict(np.random.default_rng(1), draws, Gaussian(), [ROW], [found.columns[1]])
    assert (found.mean[1], found.sd[1]) == (alone.mean[0], alone.sd[0])


def test_all_draws_decide_between_candidates_that_some_draws_rank_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first draw of a chain, which alone ranks the candidates, is made to prefer the column that is worst."""
    draws = random_run([7])
    every = expected_values(draws)[0].mean(axis=0)
    draws.posterior["V"][:, 0, CANDIDATES[np.argmin(every)]] *= 10.0 * np.sign(every[np.argmin(every)])
    monkeypatch.setattr(ranking, "ENOUGH_DRAWS", 1)
    first, all_draws = expected_values(draws)[0, 0], expected_values(draws)[0].mean(axis=0)
    assert np.argmax(first) != np.argmax(all_draws)
    assert ranked(draws, 1).columns[0] == CANDIDATES[np.argmax(all_draws)]


def test_no_more_columns_than_there_are() -> None:
    found = ranked(random_run([5]), 10)
    assert sorted(found.columns) == CANDIDATES.tolist()
    np.testing.assert_array_equal(found.probability, 1.0)
