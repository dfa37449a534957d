"""The independent solver satisfies the optimality conditions."""

import numpy as np
import pytest

from manifill.paper.nuclear_norm_solver import LOSSES, nuclear_norm_solution


@pytest.mark.parametrize("likelihood", sorted(LOSSES))
def test_the_gradient_is_in_the_subdifferential(likelihood: str) -> None:
    """−∇f(X) = λ (U Vᵀ + W) with ‖W‖₂ ≤ 1 and W orthogonal to U and V (Watson 1992)."""
    rng = np.random.default_rng(0)
    shape, penalty = (12, 9), 2.0
    rows, cols = np.nonzero(rng.random(shape) < 0.6)
    X = rng.normal(size=(12, 2)) @ rng.normal(size=(2, 9))
    y = {
        "gaussian": X[rows, cols],
        "softplus": np.logaddexp(0.0, X[rows, cols]),
        "binomial": rng.binomial(10, 1.0 / (1.0 + np.exp(-X[rows, cols]))).astype(float),
    }[likelihood]
    found = nuclear_norm_solution(likelihood, shape, rows, cols, y, penalty)
    gradient = np.zeros(shape)
    gradient[rows, cols] = LOSSES[likelihood](found[rows, cols], y)[1]
    U, s, Vt = np.linalg.svd(found, full_matrices=False)
    rank = int(np.sum(s > 1e-6))
    assert 0 < rank < 9
    W = -gradient / penalty - U[:, :rank] @ Vt[:rank]
    np.testing.assert_allclose(U[:, :rank].T @ W, 0.0, atol=1e-6)
    np.testing.assert_allclose(W @ Vt[:rank].T, 0.0, atol=1e-6)
    assert np.linalg.norm(W, 2) <= 1.0 + 1e-6


@pytest.mark.parametrize("likelihood", sorted(LOSSES))
def test_derivatives_of_the_losses(likelihood: str) -> None:
    x, y, h = np.array([-1.3, 0.2, 2.0]), np.array([1.0, 4.0, 7.0]), 1e-6
    for k in range(3):
        step = h * np.eye(3)[k]
        slope = (LOSSES[likelihood](x + step, y)[0] - LOSSES[likelihood](x - step, y)[0]) / (2.0 * h)
        assert LOSSES[likelihood](x, y)[1][k] == pytest.approx(slope, rel=1e-6)
