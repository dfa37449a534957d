"""Masses: the mean square of the gradient a column, shared by columns that may exchange their places."""

import numpy as np
import pytest

from manifill.base.arrays import Vector
from manifill.geometry import Masses
from manifill.sampling.mass_adaptation import GradientSquares
from manifill.unknowns import Effects, Layout, Unknowns, view

M, N, RANK = 4, 3, 2
PLAIN, WITH_EFFECTS = (Layout.whole(M, N, RANK, effects, 0) for effects in (False, True))


def collected(squares: list[Vector], log_s: list[Vector]) -> GradientSquares:
    """Return the sums over iterations with these squares a column and these log singular values."""
    total = GradientSquares.none(PLAIN)
    for columns, z in zip(squares, log_s, strict=True):
        total = total.update(GradientSquares(1, columns, np.exp(2.0 * z), z, z**2, 0.0, 0.0, 0.0, 0.0, np.empty(0)))
    return total


def masses_of(total: GradientSquares) -> Masses:
    return total.masses(PLAIN, np.full(M, 2), np.full(N, 2))


def squares_of(gradient: Vector, s: Vector, precisions: tuple[float, float] | None = None) -> GradientSquares:
    """Return the sums for one gradient at these singular values and, if there are any, precisions of effects."""
    effects = Effects.none() if precisions is None else Effects(0.0, np.zeros(M), np.zeros(N), *precisions)
    unknowns = Unknowns(np.empty((M, RANK)), s, np.empty((N, RANK)), effects, np.empty(0))
    return GradientSquares.of(view(PLAIN if precisions is None else WITH_EFFECTS, gradient), unknowns)


def test_columns_that_stay_apart_keep_their_own_mass() -> None:
    """The data's curvature, and that of the manifold: its number of rows, or 1 for a relative change of s."""
    rng = np.random.default_rng(1)
    squares = rng.exponential(size=(50, RANK)) * [100.0, 1.0]
    log_s = [5.0, 1.0] + 0.05 * rng.standard_normal((50, RANK))
    left, right, rest = masses_of(collected(list(squares), list(log_s)))
    expected = squares.mean(axis=0)
    np.testing.assert_allclose(left, expected + M, rtol=1e-6)
    np.testing.assert_allclose(right, expected + N, rtol=1e-6)
    np.testing.assert_allclose(rest, (expected + 1.0) / np.exp(2.0 * log_s).mean(axis=0), rtol=1e-6)


def test_columns_that_wander_over_each_other_share_their_mass() -> None:
    rng = np.random.default_rng(2)
    log_s = rng.standard_normal((50, RANK))
    log_s += [0.5, 0.0] - log_s.mean(axis=0)
    left, _, _ = masses_of(collected([np.array([100.0, 1.0])] * 50, list(log_s)))
    np.testing.assert_allclose(left - M, 10.0, rtol=0.1)


def test_only_one_that_wanders_cannot_reach_a_column_that_stays() -> None:
    """An exchange takes both: a column held tightly by the data keeps its own mass."""
    rng = np.random.default_rng(3)
    log_s = rng.standard_normal((200, RANK)) * [0.01, 1.0]
    log_s += [1.0, 0.0] - log_s.mean(axis=0)
    left, _, _ = masses_of(collected([np.array([100.0, 1.0])] * 200, list(log_s)))
    np.testing.assert_allclose(left, [100.0 + M, 1.0 + M], rtol=1e-6)


def test_squares_of_a_gradient() -> None:
    rng = np.random.default_rng(4)
    s = rng.exponential(size=RANK)
    gradient = rng.standard_normal((M + N + 1) * RANK + 1 + M + N)
    squares = squares_of(gradient, s, (2.0, 3.0))
    in_U, in_V, _, effects = np.split(gradient, [M * RANK, (M + N) * RANK, (M + N + 1) * RANK])
    expected = 0.5 * (np.mean(in_U.reshape(M, RANK) ** 2, axis=0) + np.mean(in_V.reshape(N, RANK) ** 2, axis=0))
    np.testing.assert_allclose(squares.columns, expected)
    assert squares.row == pytest.approx(np.mean(effects[1 : 1 + M] ** 2))
    assert squares.column == pytest.approx(np.mean(effects[1 + M :] ** 2))
    of_s = (squares.s_squares, squares.log_s, squares.log_s_squares)
    np.testing.assert_array_equal(of_s, (s**2, np.log(s), np.log(s) ** 2))
    without = squares_of(gradient[: (M + N + 1) * RANK], s)
    np.testing.assert_array_equal(without.columns, squares.columns)
    assert (without.row, without.column) == (0.0, 0.0)


def test_an_effect_has_the_mass_of_its_prior_and_of_its_cells_and_the_mean_that_of_all_rows() -> None:
    """An effect without cells has its prior alone; where the prior is more than all, cells add nothing."""
    ten, none = np.full(RANK, 10.0), np.zeros(RANK)
    squares = GradientSquares(10, ten, ten, none, none, 40.0, 60.0, 0.0, 10.0 * np.log(8.0), np.empty(0))
    rows, columns = np.array([0, 2, 2, 4]), np.array([4, 4, 4])
    rest = squares.masses(WITH_EFFECTS, rows, columns).rest
    row = [1.0, 4.0, 4.0, 7.0]
    np.testing.assert_allclose(rest, [2.0, 2.0, sum(row), *row, 8.0, 8.0, 8.0], rtol=1e-6)


def test_the_mean_square_of_the_gradient_is_the_curvature() -> None:
    """Fisher's identity on Gaussians of precisions 50 and 2: five standard errors of 14,000 squares are 6 %."""
    rng, precision, total = np.random.default_rng(5), np.array([50.0, 2.0]), GradientSquares.none(PLAIN)
    s = np.exp([4.0, 0.0])
    for _ in range(2000):
        x = rng.standard_normal((M + N, RANK)) / np.sqrt(precision)
        gradient = np.concatenate([(-precision * x).ravel(), np.zeros(RANK)])
        total = total.update(squares_of(gradient, s))
    left, right, _ = masses_of(total)
    np.testing.assert_allclose(left - M, precision, rtol=0.06)
    np.testing.assert_allclose(right - N, precision, rtol=0.06)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_masses_of_s_go_with_its_unit(unit: float) -> None:
    rng = np.random.default_rng(6)
    squares, log_s = list(rng.exponential(size=(20, RANK))), list(rng.standard_normal((20, RANK)))
    plain = masses_of(collected(squares, log_s))
    scaled = masses_of(collected(squares, [z + np.log(unit) for z in log_s]))
    np.testing.assert_allclose(scaled[0], plain[0], rtol=1e-9)
    np.testing.assert_allclose(scaled[2] * unit**2, plain[2], rtol=1e-9)
