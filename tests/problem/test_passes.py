"""Compiled passes over the cells against dense NumPy."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.kernels.cell_passes import (
    cell_log_likelihoods,
    component_gram,
    dense_joint_gradient,
    factor_gradient,
    joint_gradient,
    log_likelihood,
    places_in_blocks,
    row_log_likelihoods,
)
from manifill.kernels.compressed import Compressed
from tests.problem.cells import long_cells, ragged_cells
from tests.problem.likelihoods import Case, evaluate_cells, for_each_case

MakeCells: TypeAlias = Callable[[Generator, Vector], tuple[Compressed, Matrix, Matrix]]


def _dense_values_and_slopes(case: Case, cells: Compressed, left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Return matrices of log densities and slopes, zero at unobserved cells."""
    X = left @ right.T
    values, slopes = np.zeros(X.shape), np.zeros(X.shape)
    at = cells.major_indices, cells.indices
    values[at], slopes[at] = evaluate_cells(case.likelihood, cells.values, X[at])
    return values, slopes


@pytest.mark.parametrize("make_cells", [ragged_cells, long_cells])
@for_each_case
def test_factor_gradient_and_log_likelihood(case: Case, make_cells: MakeCells) -> None:
    cells, left, right = make_cells(np.random.default_rng(1), np.array(case.values))
    cells = cells._replace(values=case.likelihood.encode(cells.values))
    values, slopes = _dense_values_and_slopes(case, cells, left, right)
    gradient = np.full_like(left, np.nan)
    total = factor_gradient(cells, case.likelihood.compiled(), 2.5, left, right, gradient)
    assert total == pytest.approx(2.5 * values.sum(), rel=1e-12)
    np.testing.assert_allclose(gradient, 2.5 * slopes @ right, rtol=1e-12, atol=1e-12)
    assert log_likelihood(cells, case.likelihood.compiled(), left, right) == pytest.approx(values.sum(), rel=1e-12)
    lines = np.full(len(left), np.nan)
    row_log_likelihoods(cells, case.likelihood.compiled(), left, right, lines)
    np.testing.assert_allclose(lines, values.sum(axis=1), rtol=1e-12, atol=1e-12)
    each = np.full(cells.values.size, np.nan)
    cell_log_likelihoods(cells, case.likelihood.compiled(), left, right, each)
    np.testing.assert_allclose(each, values[cells.major_indices, cells.indices], rtol=1e-12, atol=1e-12)


def joint(
    case: Case, cells: Compressed, weights: Vector, left: Matrix, right: Matrix, block_rows: int = 0
) -> tuple[float, Matrix, Matrix]:
    """Return the sum and its gradients in both factors, by cells or by blocks of whole rows, into used arrays."""
    likelihood, of_coordinates = case.likelihood.compiled(), np.empty(0)
    gradients = np.full_like(left, np.nan), np.full_like(right, np.nan)
    block = np.full((2, block_rows, len(right)), np.nan)
    places = places_in_blocks(cells, len(right), block_rows) if block_rows else np.empty(0, dtype=np.int32)
    cell_pass = dense_joint_gradient if block_rows else joint_gradient
    total = cell_pass(cells, likelihood, weights, left, right, *gradients, of_coordinates, places, block)
    return total, *gradients


# By cells; by blocks of one row, of some, where the last is not full, and of all.
by_cells_and_by_blocks = pytest.mark.parametrize("block_rows", [0, 1, 3, 7, 11])


@by_cells_and_by_blocks
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make_cells", [ragged_cells, long_cells])
@for_each_case
def test_joint_gradient(case: Case, make_cells: MakeCells, weighted: bool, block_rows: int) -> None:
    """Both gradients at once, with a weight for each cell or with none."""
    rng = np.random.default_rng(6)
    cells, left, right = make_cells(rng, np.array(case.values))
    cells = cells._replace(values=case.likelihood.encode(cells.values))
    values, slopes = _dense_values_and_slopes(case, cells, left, right)
    of_cells = rng.exponential(size=cells.values.size) if weighted else np.empty(0)
    weights = np.ones(values.shape)
    if weighted:
        weights[cells.major_indices, cells.indices] = of_cells
    total, in_left, in_right = joint(case, cells, of_cells, left, right, block_rows)
    assert total == pytest.approx((values * weights).sum(), rel=1e-12)
    np.testing.assert_allclose(in_left, slopes * weights @ right, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(in_right, (slopes * weights).T @ left, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("row", range(1, 6))
@for_each_case
def test_a_nan_is_seen_wherever_it_is(case: Case, row: int) -> None:
    """A divergence shows as a NaN, which compiled code must not lose."""
    cells, left, right = ragged_cells(np.random.default_rng(5), np.array(case.values))
    left[row, 1] = np.nan
    gradient = np.empty_like(left)
    assert np.isnan(factor_gradient(cells, case.likelihood.compiled(), 1.0, left, right, gradient))
    assert np.isnan(log_likelihood(cells, case.likelihood.compiled(), left, right))
    assert all(np.isnan(joint(case, cells, np.empty(0), left, right, rows)[0]) for rows in (0, 3))
    assert np.isnan(gradient[row]).all()
    assert np.isfinite(np.delete(gradient, row, axis=0)).all()


def test_component_gram() -> None:
    rng = np.random.default_rng(2)
    cells, left, right = ragged_cells(rng)
    scales = rng.exponential(size=3)
    M = left[cells.major_indices] * right[cells.indices]
    gram, moments = np.full((3, 3), np.nan), np.full(3, np.nan)
    component_gram(cells, left, right, scales, gram, moments)
    np.testing.assert_allclose(gram, M.T @ M, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(moments, M.T @ (cells.values - M @ scales), rtol=1e-12, atol=1e-13)


@for_each_case
def test_inputs_are_kept(case: Case) -> None:
    cells, left, right = ragged_cells(np.random.default_rng(4), np.array(case.values))
    kept = [part.copy() for part in (*cells, left, right)]
    factor_gradient(cells, case.likelihood.compiled(), 1.0, left, right, np.empty_like(left))
    for block_rows in (0, 3):
        joint(case, cells, np.empty(0), left, right, block_rows)
    assert all(np.array_equal(part, copy) for part, copy in zip((*cells, left, right), kept, strict=True))
