"""The matrix exponential of the geometry against SciPy's."""

import numpy as np
import pytest
from scipy.linalg import expm

from manifill.base.arrays import Matrix
from manifill.geometry.small_matrices import copy_skew_part, copy_symmetric_part, exponential


def exponential_of(matrix: Matrix) -> Matrix:
    out = np.empty_like(matrix)
    exponential(matrix, out)
    return out


@pytest.mark.parametrize("norm", [1e-8, 1e-3, 0.1, 0.12, 0.5, 0.79, 0.81, 2.0, 10.0, 50.0])
@pytest.mark.parametrize("size", [1, 2, 4, 14, 40])
def test_agrees_with_scipy(size: int, norm: float) -> None:
    """Relative to the largest entry; every squaring may double the error."""
    rng = np.random.default_rng(size)
    matrix = rng.standard_normal((size, size))
    matrix *= norm / np.linalg.norm(matrix, 1)
    expected = expm(matrix)
    assert np.abs(exponential_of(matrix) - expected).max() < 1e-14 * (1.0 + 10.0 * norm) * np.abs(expected).max()


@pytest.mark.parametrize("norm", [1e-8, 0.3, 50.0])
def test_a_skew_matrix_gives_a_rotation(norm: float) -> None:
    skew = np.empty((7, 7))
    copy_skew_part(np.random.default_rng(1).standard_normal((7, 7)), skew)
    rotation = exponential_of(skew * norm / np.linalg.norm(skew, 1))
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(7), rtol=0, atol=1e-13)


def test_keeps_its_argument() -> None:
    matrix = np.random.default_rng(2).standard_normal((4, 4))
    kept = matrix.copy()
    exponential_of(matrix)
    assert np.array_equal(matrix, kept)


@pytest.mark.parametrize("entry", [(0, 0), (0, 2), (1, 1), (2, 0), (2, 2)])
@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf, 1e7])
def test_nan_infinity_and_huge_entries_give_nan(broken: float, entry: tuple[int, int]) -> None:
    matrix = np.zeros((3, 3))
    matrix[entry] = broken
    assert np.isnan(exponential_of(matrix)).all()


def test_symmetric_and_skew_parts_add_up_and_work_in_place() -> None:
    matrix = np.random.default_rng(3).standard_normal((5, 5))
    symmetric, skew = np.empty((5, 5)), matrix.copy()
    copy_symmetric_part(matrix, symmetric)
    copy_skew_part(skew, skew)
    np.testing.assert_allclose(symmetric, (matrix + matrix.T) / 2, rtol=0, atol=1e-15)
    np.testing.assert_allclose(skew, (matrix - matrix.T) / 2, rtol=0, atol=1e-15)
