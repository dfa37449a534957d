"""Scales of A and B exchanged: A Bᵀ stays, and so does the prior."""

import numpy as np

from manifill.base.arrays import Generator, Matrix
from manifill.base.priors import Gamma, Marginal
from manifill.sampling.component_scale import exchange_scales

PRIOR, SHAPE, RANK = Gamma(3.0, 2.0), (7, 4), 3
LEFT, RIGHT = (Marginal.over(PRIOR, 0.5 * size) for size in SHAPE)


def from_prior(rng: Generator) -> tuple[Matrix, Matrix]:
    A, B = (rng.standard_normal((size, RANK)) * rng.gamma(3.0, 0.5, RANK) ** -0.5 for size in SHAPE)
    return A, B


def features(A: Matrix, B: Matrix) -> Matrix:
    """Return logarithms of the squared lengths of the columns, their squares and products."""
    a, b = np.log(np.sum(A**2, axis=0)), np.log(np.sum(B**2, axis=0))
    return np.concatenate([a, b, a**2, b**2, a * b])


def test_the_prior_stays() -> None:
    """Means before and after, over independent points: 15 z-scores, one beyond 4.5 once in 9800 runs."""
    rng, changes = np.random.default_rng(1), []
    for _ in range(10_000):
        A, B = from_prior(rng)
        before = features(A, B)
        exchange_scales(rng, LEFT, RIGHT, A, B)
        changes.append(features(A, B) - before)
    z = np.mean(changes, axis=0) / (np.std(changes, axis=0) / 100.0)
    assert np.abs(z).max() < 4.5, z


def test_the_product_stays_and_scales_move() -> None:
    rng = np.random.default_rng(2)
    A, B = from_prior(rng)
    product, lengths = A @ B.T, np.sum(A**2, axis=0)
    exchange_scales(rng, LEFT, RIGHT, A, B)
    np.testing.assert_allclose(A @ B.T, product, rtol=1e-13)
    assert not np.isclose(np.sum(A**2, axis=0), lengths, rtol=1e-2).any()
