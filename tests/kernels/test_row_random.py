"""Random numbers addressed by row: standard normal, independent between rows and keys, whatever rows are filled."""

import numpy as np
import pytest
from scipy import stats

from manifill.base.arrays import Matrix
from manifill.kernels.row_random import EDGE, draw_key, fill_normal_entries, fill_normal_row, fill_normal_rows

ROWS, COLUMNS = 3_000_000, 4  # enough to see that the tail lacks a twelfth of its mass


def _key(seed: int) -> np.uint64:
    return np.uint64(draw_key(np.random.default_rng(seed)))


def _normal(key: np.uint64, rows: int = ROWS, columns: int = COLUMNS) -> Matrix:
    out = np.empty((rows, columns))
    fill_normal_rows(key, out)
    return out


def test_a_row_depends_on_key_and_row_alone() -> None:
    key, whole = _key(1), _normal(_key(1), 50, 7)
    for row in (0, 3, 49):
        alone = np.empty(7)
        fill_normal_row(key, row, alone)
        np.testing.assert_array_equal(alone, whole[row])
    entries = np.empty(50)
    fill_normal_entries(key, entries)
    np.testing.assert_array_equal(entries, whole[:, 0])


def test_a_longer_row_begins_like_a_shorter_one() -> None:
    np.testing.assert_array_equal(_normal(_key(2), 20, 9)[:, :4], _normal(_key(2), 20, 4))


def test_numbers_are_standard_normal() -> None:
    """A chi-square test over 95 bins and one of the tail beyond the ziggurat: each p below 1e-4 once in 10,000 runs."""
    numbers = _normal(_key(3)).ravel()
    edges = np.concatenate([[-np.inf], np.linspace(-4.2, 4.2, 94), [np.inf]])
    expected = np.diff(stats.norm.cdf(edges)) * numbers.size
    assert stats.chisquare(np.histogram(numbers, edges)[0], expected).pvalue > 1e-4
    in_tail = int(np.sum(np.abs(numbers) > EDGE))
    assert stats.binomtest(in_tail, numbers.size, 2.0 * stats.norm.sf(EDGE)).pvalue > 1e-4


@pytest.mark.parametrize("lag", [1, 2, 3, 64])
def test_rows_are_independent(lag: int) -> None:
    """Correlations of numbers, and of their squares, between rows so far apart: |z| < 5 in 32, once in 54,000 runs."""
    numbers = _normal(_key(4), 100_000)
    for values in (numbers, numbers**2):
        standard = (values - values.mean(axis=0)) / values.std(axis=0)
        z = (standard[:-lag].T @ standard[lag:]) / np.sqrt(len(values) - lag)
        assert np.abs(z).max() < 5.0


def test_keys_are_independent() -> None:
    """First numbers of one row under successive keys: moments and neighbours, |z| < 5 in 5, once in 350,000 runs."""
    rng, first = np.random.default_rng(5), np.empty((20_000, 1))
    for row in first:
        fill_normal_row(np.uint64(draw_key(rng)), 7, row)
    x, root = first[:, 0], np.sqrt(len(first))
    z = [x.mean() * root, (np.mean(x**2) - 1.0) * root / 2.0**0.5, np.mean(x**3) * root / 15.0**0.5]
    z += [np.mean(x[:-1] * x[1:]) * root, (np.mean(x**4) - 3.0) * root / 96.0**0.5]
    assert np.abs(z).max() < 5.0
