"""MyFM: Bayesian factorisation machines by Gibbs sampling."""

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from accuracy.methods.method import Method
from accuracy.predicted import Classes, Mixture
from accuracy.scores import star_number
from accuracy.tables import Cells, Split
from manifill.base.arrays import Array, Vector

QUICK_ITERATIONS = 20
COMPONENTS = 200  # of the predictive distribution, spread evenly over the samples
SEED = 0


def one_hot(shape: tuple[int, int], cells: Cells) -> Any:
    """Return a feature for each row and column of the table, two of them 1 in every cell."""
    count = cells.rows.size
    features = np.stack([cells.rows, shape[0] + cells.cols], axis=1).ravel()
    return csr_matrix((np.ones(2 * count), features, np.arange(0, 2 * count + 1, 2)), shape=(count, sum(shape)))


def regression(split: Split, quick: bool, rank: int, iterations: int) -> Mixture:
    """Return the mixture of N(f_k, 1/α_k) over the samples f_k, α_k of regression with normal noise."""
    from myfm import MyFMGibbsRegressor

    model = MyFMGibbsRegressor(rank=rank, random_seed=SEED)
    count = QUICK_ITERATIONS if quick else iterations
    train = one_hot(split.shape, split.train)
    model.fit(train, split.train.y, n_iter=count, group_shapes=list(split.shape))
    test = one_hot(split.shape, split.test)
    samples, noise = samples_of(model)
    kept = np.unique(np.linspace(0, len(samples) - 1, COMPONENTS).astype(int))
    means = np.array([samples[k].predict_score(test, []) for k in kept], dtype=np.float32)
    return Mixture(means, noise[kept, None], model.predict(test))


def samples_of(model: Any) -> tuple[list[Any], Vector]:
    """Return the samples that were kept, which are the last ones, and the standard deviations of their noise."""
    samples = list(model.predictor_.samples)
    precisions: Array = np.array([hyper.alpha for hyper in model.history_.hypers[-len(samples) :]])
    return samples, precisions**-0.5


def ordered_probit(split: Split, quick: bool, rank: int, iterations: int) -> Classes:
    """Return the probabilities of the stars by an ordered probit model."""
    from myfm import MyFMOrderedProbit

    model = MyFMOrderedProbit(rank=rank, random_seed=SEED)
    count = QUICK_ITERATIONS if quick else iterations
    train = one_hot(split.shape, split.train)
    model.fit(train, star_number(split.train.y), n_iter=count, group_shapes=list(split.shape))
    return Classes(model.predict_proba(one_hot(split.shape, split.test)))


METHODS = {
    f"myFM {name}, rank {rank}, {iterations} iterations": Method(
        partial(predict, rank=rank, iterations=iterations),
        "myfm",
        scalable=not stars_only,
        stars_only=stars_only,
        quick=(rank, iterations) == (8, 100),
    )
    for name, predict, stars_only in (("regression", regression, False), ("ordered probit", ordered_probit, True))
    for rank in (8, 20)
    for iterations in (100, 500)
}
