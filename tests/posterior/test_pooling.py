"""Rubin's rules, against their formulas, their limits, and simulated analyses."""

import numpy as np
import pytest
from numpy.typing import ArrayLike

from manifill import pool


def test_formulas_by_hand() -> None:
    """Three tables; the figures are those of Rubin (1987, §3.1) and of Barnard and Rubin (1999), worked out by hand."""
    found = pool([1.0, 2.0, 3.0], [0.5, 0.5, 0.5], degrees_of_freedom=10)
    between = 4.0 / 3.0
    share = between / (0.5 + between)
    of_imputation, of_rows = 2.0 / share**2, 11.0 / 13.0 * 10.0 * (1.0 - share)
    degrees = of_imputation * of_rows / (of_imputation + of_rows)
    assert found.estimate == pytest.approx(2.0)
    assert found.standard_error**2 == pytest.approx(0.5 + between)
    assert found.degrees_of_freedom == pytest.approx(degrees)
    ratio = between / 0.5
    assert found.missing_information == pytest.approx((ratio + 2.0 / (degrees + 3.0)) / (ratio + 1.0))


def test_tables_that_agree_are_one_table() -> None:
    found = pool([[1.0, 4.0]] * 5, [[0.04, 0.09]] * 5, degrees_of_freedom=50)
    np.testing.assert_allclose(found.standard_error, [0.2, 0.3])
    np.testing.assert_allclose(found.degrees_of_freedom, 51.0 / 53.0 * 50.0)
    assert not found.missing_information.any()
    lower, upper = found.interval()
    np.testing.assert_allclose(0.5 * (lower + upper), [1.0, 4.0])


def test_large_tables_have_rubins_degrees_of_freedom() -> None:
    found = pool([1.0, 2.0, 3.0], [0.5, 0.5, 0.5])
    share = (4.0 / 3.0) / (0.5 + 4.0 / 3.0)
    assert found.degrees_of_freedom == pytest.approx(2.0 / share**2)
    assert pool([1.0, 1.0], [0.5, 0.5]).degrees_of_freedom == np.inf


def test_intervals_of_a_mean_cover_as_often_as_they_say() -> None:
    """Half of 60 values are missing and drawn from their posterior, 4000 times: 95 % cover to ±1.7 % (5 errors)."""
    rng, covered = np.random.default_rng(0), 0
    for _ in range(4000):
        y = rng.normal(size=30)
        estimates, variances = [], []
        for _ in range(10):
            variance = 29.0 * y.var(ddof=1) / rng.chisquare(29)
            mean = rng.normal(y.mean(), np.sqrt(variance / 30.0))
            full = np.concatenate([y, rng.normal(mean, np.sqrt(variance), size=30)])
            estimates.append(full.mean())
            variances.append(full.var(ddof=1) / 60.0)
        lower, upper = pool(estimates, variances, degrees_of_freedom=59).interval(0.95)
        covered += int(lower <= 0.0 <= upper)
    assert abs(covered / 4000 - 0.95) < 5.0 * np.sqrt(0.95 * 0.05 / 4000)


@pytest.mark.parametrize(
    ("estimates", "variances", "message"),
    [
        ([1.0], [1.0], "at least two"),
        ([1.0, 2.0], [1.0], "the same shape"),
        ([1.0, np.nan], [1.0, 1.0], "finite"),
        ([1.0, 2.0], [1.0, 0.0], "positive"),
    ],
)
def test_what_cannot_be_pooled_is_refused(estimates: ArrayLike, variances: ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pool(estimates, variances)


def test_broken_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="degrees_of_freedom must be positive"):
        pool([1.0, 2.0], [1.0, 1.0], degrees_of_freedom=0)
    with pytest.raises(ValueError, match="level is the probability"):
        pool([1.0, 2.0], [1.0, 1.0]).interval(95)
