"""The rank that is found from the data."""

from functools import partial

import numpy as np
import pytest

from manifill.base.arrays import Matrix
from manifill.estimators.arguments import build_model
from manifill.estimators.automatic_choices import choose_rank
from manifill.likelihoods import Gaussian, Likelihood, SoftplusGaussian
from manifill.problem import Model, Observations, from_array
from manifill.sampling import rank_search
from manifill.sampling.held_out_trials import some_cells
from manifill.sampling.rank_search import FIRST, LARGEST, find_rank, largest_rank


def table(shape: tuple[int, int], rank: int, noise: float, share: float, seed: int = 0) -> Matrix:
    """Return a matrix whose low-rank part has entries of variance 1, with holes."""
    rng = np.random.default_rng(seed)
    m, n = shape
    X = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n)) / np.sqrt(max(rank, 1))
    X = np.asarray(X + noise * rng.normal(size=shape))
    X[rng.random(shape) > share] = np.nan
    return X


def found(X: Matrix, seed: int = 0, shape: tuple[int, int] | None = None) -> int:
    rows, cols = np.nonzero(~np.isnan(X))
    observations = Observations.from_triples(rows, cols, X[rows, cols], X.shape if shape is None else shape)
    return choose_rank(np.random.default_rng(seed), observations, model_of(observations, 1))


def model_of(observations: Observations, rank: int, likelihood: Likelihood | None = None) -> Model:
    unused = dict.fromkeys(("sigma", "noise_prior", "lambda_", "lambda_prior"))
    settings = {"sampler": "auto", "effects": "additive", "noise": "both", "tails": "normal"}
    return build_model(observations, likelihood or Gaussian(), rank=rank, **settings, **unused)


@pytest.mark.parametrize(("rank", "shape"), [(2, (150, 40)), (12, (150, 60)), (20, (60, 200))])
def test_rank_is_enough_and_not_many_times_too_large(rank: int, shape: tuple[int, int]) -> None:
    """Doubling from FIRST, the smallest number that is enough is below twice the rank; one step more may be taken."""
    got = found(table(shape, rank, noise=0.2, share=0.6))
    assert rank <= got <= 4 * max(rank, FIRST // 2)


@pytest.mark.parametrize(("rank", "columns", "least", "most"), [(13, 20, 19, 19), (2, 30, 2, 8)])
def test_narrow_tables_that_need_most_components_have_all(rank: int, columns: int, least: int, most: int) -> None:
    """Otherwise columns compete for components of their own."""
    assert least <= found(table((200, columns), rank, noise=0.2, share=0.7)) <= most


def test_noise_alone_gives_few_components() -> None:
    assert found(table((80, 50), 0, noise=1.0, share=0.6)) <= 2 * FIRST


def test_the_same_seed_gives_the_same_rank() -> None:
    X = table((60, 30), 3, noise=0.5, share=0.5)
    assert found(X, seed=4) == found(X, seed=4)


def test_rank_stays_below_the_number_of_columns() -> None:
    assert [largest_rank(shape) for shape in ((100, 1), (2, 100), (100, 5), (500, 400))] == [1, 1, 4, LARGEST]
    assert found(table((50, 4), 3, noise=0.1, share=0.7)) == 3
    assert found(np.array([[1.0, np.nan], [2.0, 3.0], [np.nan, 1.0]])) == 1
    assert found(table((300, 300), 2, noise=0.1, share=1e-3)) <= FIRST


def test_other_likelihoods_are_replaced_by_normal_noise() -> None:
    observations = from_array(np.log1p(np.exp(table((100, 40), 6, noise=0.0, share=0.6))) + 0.01)
    one = model_of(observations, 1, SoftplusGaussian())
    assert choose_rank(np.random.default_rng(0), observations, one) >= 6


def test_empty_rows_and_columns_do_not_count() -> None:
    X = table((6, 7), 2, noise=0.1, share=2.0)
    assert [found(X, seed, (500, 400)) for seed in range(3)] == [FIRST] * 3  # 42 cells are too few to choose by
    X = table((30, 7), 2, noise=0.1, share=2.0)
    assert [found(X, seed, (500, 400)) for seed in range(3)] == [found(X, seed) for seed in range(3)]


def test_many_cells_are_represented_by_some_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_search, "some_cells", partial(some_cells, most=500))
    observations = from_array(table((200, 30), 3, noise=0.3, share=0.5))
    some = some_cells(np.random.default_rng(0), observations, most=500)
    assert 250 < some.size < 1000
    rows, _, values = observations.triples()
    kept = rows[np.isin(values, some.triples()[2])]
    assert np.isin(rows, kept).sum() == some.size  # whole rows
    assert find_rank(np.random.default_rng(0), observations, lambda rank: model_of(observations, rank)).rank >= 3


@pytest.mark.parametrize(("shape", "rank", "how"), [((30, 4), 3, "the largest"), ((9, 9), 4, "too few cells")])
def test_a_table_that_leaves_nothing_to_choose_is_not_searched(shape: tuple[int, int], rank: int, how: str) -> None:
    rows, cols = (index.ravel() for index in np.indices(shape))
    observations = Observations.from_triples(rows, cols, np.random.default_rng(0).normal(size=rows.size))
    choice = find_rank(np.random.default_rng(0), observations, lambda _: pytest.fail("no model is needed"))
    assert choice.rank == rank
    assert how in choice.how
