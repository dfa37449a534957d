"""Compiled passes over the cells against dense NumPy."""

from collections.abc import Callable

import numpy as np
import pytest

from manifill.problem import Compressed
from manifill.problem.passes import component_gram, factor_gradient, log_likelihood, scale_columns
from manifill.types import Matrix
from tests.problem.cells import long_cells, ragged_cells
from tests.problem.likelihoods import Case, for_each_case


def _dense_values_and_slopes(case: Case, cells: Compressed, left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Return matrices of log densities and slopes, zero at unobserved cells."""
    X = left @ right.T
    values, slopes = np.zeros(X.shape), np.zeros(X.shape)
    for i, j, y in zip(cells.lines, cells.indices, cells.values, strict=True):
        values[i, j], slopes[i, j] = case.likelihood.evaluate(y, X[i, j])
    return values, slopes


@pytest.mark.parametrize("make_cells", [ragged_cells, long_cells])
@for_each_case
def test_factor_gradient_and_log_likelihood(case: Case, make_cells: Callable) -> None:
    cells, left, right = make_cells(np.random.default_rng(1), np.array(case.values))
    cells = cells._replace(values=case.likelihood.encode(cells.values))
    values, slopes = _dense_values_and_slopes(case, cells, left, right)
    gradient = np.full_like(left, np.nan)
    total = factor_gradient(cells, case.likelihood, 2.5, left, right, gradient)
    assert total == pytest.approx(2.5 * values.sum(), rel=1e-12)
    np.testing.assert_allclose(gradient, 2.5 * slopes @ right, rtol=1e-12, atol=1e-12)
    assert log_likelihood(cells, case.likelihood, left, right) == pytest.approx(values.sum(), rel=1e-12)


@pytest.mark.parametrize("row", range(1, 6))
@for_each_case
def test_a_nan_is_seen_wherever_it_is(case: Case, row: int) -> None:
    """A divergence shows as a NaN, which compiled code must not lose."""
    cells, left, right = ragged_cells(np.random.default_rng(5), np.array(case.values))
    left[row, 1] = np.nan
    gradient = np.empty_like(left)
    assert np.isnan(factor_gradient(cells, case.likelihood, 1.0, left, right, gradient))
    assert np.isnan(log_likelihood(cells, case.likelihood, left, right))
    assert np.isnan(gradient[row]).all()
    assert np.isfinite(np.delete(gradient, row, axis=0)).all()


def test_component_gram() -> None:
    rng = np.random.default_rng(2)
    cells, left, right = ragged_cells(rng)
    scales = rng.exponential(size=3)
    M = left[cells.lines] * right[cells.indices]
    gram, moments = np.full((3, 3), np.nan), np.full(3, np.nan)
    component_gram(cells, left, right, scales, gram, moments)
    np.testing.assert_allclose(gram, M.T @ M, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(moments, M.T @ (cells.values - M @ scales), rtol=1e-12, atol=1e-13)


def test_scale_columns() -> None:
    rng = np.random.default_rng(3)
    factor, scales = rng.standard_normal((5, 3)), rng.exponential(size=3)
    out = np.empty_like(factor)
    scale_columns(factor, scales, out)
    assert np.array_equal(out, factor * scales)


@for_each_case
def test_inputs_are_kept(case: Case) -> None:
    cells, left, right = ragged_cells(np.random.default_rng(4), np.array(case.values))
    kept = [part.copy() for part in (*cells, left, right)]
    factor_gradient(cells, case.likelihood, 1.0, left, right, np.empty_like(left))
    assert all(np.array_equal(part, copy) for part, copy in zip((*cells, left, right), kept, strict=True))
