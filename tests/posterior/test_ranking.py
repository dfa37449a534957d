"""The best columns for a row, against all draws of all cells."""

import numpy as np
import pytest

from manifill import Gaussian
from manifill.base.arrays import Array
from manifill.posterior import rank_columns, ranking
from tests.posterior.runs import dense_draws, random_run

ROW, CANDIDATES = 2, np.array([0, 2, 3])


def check(expected: Array, **found: Array) -> None:
    """Compare the two best with what the draws expect of all candidates, (draw, candidate)."""
    best = np.argsort(-expected.mean(axis=0))[:2]
    among = np.sort(np.argsort(-expected, axis=1)[:, :2], axis=1)
    np.testing.assert_array_equal(found["columns"], CANDIDATES[best])
    np.testing.assert_allclose(found["mean"], expected.mean(axis=0)[best])
    np.testing.assert_allclose(found["sd"], expected.std(axis=0)[best])
    np.testing.assert_allclose(found["probability"], [(among == k).any(axis=1).mean() for k in best])


@pytest.mark.parametrize(("enough", "kept"), [(100, range(7)), (6, [0, 2, 4])])
def test_ranking_is_of_all_draws_or_of_some_of_each_chain(
    enough: int, kept: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "ENOUGH_DRAWS", enough)
    draws = random_run([7, 7])
    X = dense_draws(draws)[0].reshape(2, 7, *draws.shape)
    expected = X[:, list(kept), ROW][..., CANDIDATES].reshape(-1, CANDIDATES.size)
    check(expected, **vars(rank_columns(draws, Gaussian(), ROW, CANDIDATES, 2)))


def test_no_more_columns_than_there_are() -> None:
    found = rank_columns(random_run([5]), Gaussian(), ROW, CANDIDATES, 10)
    assert sorted(found.columns) == CANDIDATES.tolist()
    np.testing.assert_array_equal(found.probability, 1.0)
