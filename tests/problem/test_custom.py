"""A user's likelihood goes through the same compiled passes as a built-in one."""

import numpy as np
import pytest

from manifill.kernels.cell_passes import factor_gradient, log_likelihood
from manifill.likelihoods import Gaussian, Likelihood, custom_likelihood
from manifill.problem import Observations
from tests.problem.cells import ragged_cells
from tests.problem.likelihoods import evaluate_cells

SCALE = 2.0  # closed over by the user's functions


def test_equals_the_built_in_kernel() -> None:
    twice_gaussian = custom_likelihood(
        "twice", log_density=lambda y, x: -0.5 * SCALE * (y - x) ** 2, derivative=lambda y, x: SCALE * (y - x)
    )
    cells, left, right = ragged_cells(np.random.default_rng(1))
    ours, theirs = np.empty_like(left), np.empty_like(left)
    total = factor_gradient(cells, twice_gaussian.compiled(), 1.0, left, right, ours)
    expected = factor_gradient(cells, Gaussian().compiled(), SCALE, left, right, theirs)
    assert total == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("missing", ["mean", "variance", "sample"])
def test_says_what_it_lacks_to_predict(missing: str) -> None:
    bare = custom_likelihood("bare", log_density=lambda y, x: y * x, derivative=lambda y, x: y)
    x = np.zeros(2)
    calls = {
        "mean": lambda: bare.mean(x),
        "variance": lambda: bare.variance(x, {}),
        "sample": lambda: bare.sample(np.random.default_rng(1), x, {}),
    }
    with pytest.raises(ValueError, match=f"'bare' cannot predict without `{missing}`"):
        calls[missing]()


def test_passes_the_given_functions_on() -> None:
    given = custom_likelihood(
        "given",
        log_density=lambda y, x: y * x,
        derivative=lambda y, x: y,
        mean=lambda x: x + 1.0,
        variance=lambda x: x + 2.0,
        sample=lambda rng, x: x + rng.integers(1, 2),
        starting_point=lambda y: 3.0 * y,
    )
    x = np.array([1.0, 2.0])
    assert (given.name, given.has_noise) == ("given", False)
    assert np.array(evaluate_cells(given, np.array([2.0]), np.array([3.0]))).tolist() == [[6.0], [2.0]]
    assert given.mean(x).tolist() == [2.0, 3.0]
    assert given.variance(x, {}).tolist() == [3.0, 4.0]
    assert given.sample(np.random.default_rng(1), x, {}).tolist() == [2.0, 3.0]
    assert given.starting_point(given.encode(x)).tolist() == [3.0, 6.0]


def test_two_likelihoods_in_one_process_do_not_share_kernels() -> None:
    def scaled(by: float) -> Likelihood:
        def log_density(y: float, x: float, k: float = by) -> float:
            return -k * abs(y - x)

        def derivative(y: float, x: float, k: float = by) -> float:
            return k

        return custom_likelihood("scaled", log_density=log_density, derivative=derivative)

    first, second = scaled(1.0), scaled(3.0)
    observations = Observations.from_triples([0], [0], [2.0])
    values = [
        log_likelihood(observations.by_row, one.compiled(), np.ones((1, 1)), np.zeros((1, 1)))
        for one in (first, second)
    ]
    assert values == [-2.0, -6.0]
