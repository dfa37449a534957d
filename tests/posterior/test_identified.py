"""What is diagnosed, compared with the draws."""

import numpy as np
import pytest

from manifill.base.arrays import Array
from manifill.likelihoods import Gaussian
from manifill.posterior import Draws, Variable, diagnosed_series, identified_quantities
from manifill.posterior.diagnosed_cells import diagnosed_cells
from manifill.problem import CellNames, Observations
from tests.posterior.runs import ALL_KINDS, M, N, dense_draws, random_run


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_series_are_those_of_x_and_of_all_other_variables(kind: str) -> None:
    """With effects X is the whole matrix: its singular values are those of both parts together."""
    draws = random_run([6, 6], variables=ALL_KINDS[kind])
    predictions, whole, _ = diagnosed_series(np.random.default_rng(0), draws, Gaussian())
    X, sigma = dense_draws(draws)
    expected = np.linalg.svd(X, compute_uv=False)
    for c in range(4 if "mu" in draws.posterior else 2):
        np.testing.assert_allclose(whole[f"singular_value[{c}]"].ravel(), expected[:, c], rtol=1e-10)
    for i in range(M):
        for j in range(N):
            np.testing.assert_allclose(predictions[f"X[{i},{j}]"].ravel(), X[:, i, j], rtol=1e-12)
    np.testing.assert_array_equal(whole["lp"], draws.statistics["lp"])
    for name in {"lambda", "mu"} & draws.posterior.keys():
        np.testing.assert_array_equal(whole[name], draws.posterior[name])
    if sigma.ndim == 2:
        for j in range(N):
            np.testing.assert_array_equal(predictions[f"sigma[{j}]"].ravel(), sigma[:, j])
        np.testing.assert_array_equal(whole["smallest sigma"].ravel(), sigma.min(axis=1))
        np.testing.assert_array_equal(whole["largest sigma"].ravel(), sigma.max(axis=1))
        rms = np.sqrt(np.mean(sigma**2, axis=1))
        np.testing.assert_allclose(whole["root mean square of sigma"].ravel(), rms, rtol=1e-12)
    elif "sigma" in draws.posterior:
        np.testing.assert_array_equal(predictions["sigma"].ravel(), sigma)
    assert all(values.shape == (2, 6) for values in (predictions | whole).values())


def test_columns_of_the_noise_have_labels() -> None:
    draws = random_run([6, 6], variables=ALL_KINDS["U s V, effects, noise by column"])
    names = CellNames("user", "film", None, np.array(["a", "b", "c", "d"]))
    predictions, _, _ = diagnosed_series(np.random.default_rng(0), draws, Gaussian(), names)
    assert "sigma of film c" in predictions
    assert "X at user 2, film c" in predictions


def test_cells_are_chosen_by_the_generator() -> None:
    draws = random_run([3])
    first, second, other = (set(identified_quantities(np.random.default_rng(k), draws, cells=5)) for k in (1, 1, 2))
    assert first == second != other
    assert sum(name.startswith("X[") for name in first) == 5


def wide_run(m: int, n: int) -> tuple[Draws, Array]:
    """Return draws of an m×n matrix whose cells differ in their spread, and the spreads."""
    rng = np.random.default_rng(0)
    variables = (Variable("A", ("row", "component"), (m, 1)), Variable("B", ("column", "component"), (n, 1)))
    scale = np.linspace(0.1, 1.0, m)
    A = 1.0 + scale[:, None] * rng.normal(size=(2, 50, m, 1))
    draws = Draws(variables, {"A": A, "B": np.ones((2, 50, n, 1))}, {"lp": rng.normal(size=(2, 50))}, {}, {})
    return draws, A.std(axis=(0, 1))[:, 0]


def test_observed_and_missing_cells_are_chosen_the_surest_and_the_least_sure_among_them() -> None:
    draws, spreads = wide_run(20, 10)
    observed = np.random.default_rng(1).random((20, 10)) < 0.5
    rows, cols = np.nonzero(observed)
    data = Observations.from_triples(rows, cols, np.ones(rows.size), (20, 10))
    cells = diagnosed_cells(np.random.default_rng(2), draws, data)
    assert cells.rows.size == len(set(zip(*cells, strict=True))) == 50
    seen = observed[cells.rows, cells.cols]
    assert seen.sum() == 25
    for kind in (True, False):
        rows_of_kind = np.nonzero(observed == kind)[0]
        order = rows_of_kind[np.argsort(spreads[rows_of_kind])]
        assert set(order[[0, -1]]) <= set(cells.rows[seen == kind])


@pytest.mark.parametrize(("m", "n", "missing"), [(20, 10, 0), (20, 10, 3), (200, 50, 1500)])
def test_few_or_no_missing_cells_are_found(m: int, n: int, missing: int) -> None:
    draws, _ = wide_run(m, n)
    order = np.random.default_rng(1).permutation(m * n)
    rows, cols = np.divmod(np.sort(order[missing:]), n)
    data = Observations.from_triples(rows, cols, np.ones(rows.size), (m, n))
    found = diagnosed_cells(np.random.default_rng(2), draws, data)
    assert np.isin(found.rows * n + found.cols, order[:missing]).sum() == min(missing, 25)
