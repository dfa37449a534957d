"""Shapes of columns, fitted to their values."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import approx_fprime

from manifill.base.arrays import Matrix, Vector
from manifill.problem import from_array
from manifill.problem.column_shapes import FEWEST_DISTINCT, FEWEST_VALUES, LIMIT, _penalised, are_shaped, fit_shapes
from manifill.problem.column_units import NO_LIMIT, ColumnUnits


def fitted(table: Matrix) -> ColumnUnits:
    return fit_shapes(from_array(table))


def column(values: Vector) -> Matrix:
    return np.asarray(values, dtype=np.float64)[:, None]


@pytest.mark.parametrize("parameters", [(0.0, 0.0, 0.0, 0.0), (0.3, -0.2, 0.4, -0.3), (-1.0, 0.5, -0.8, 0.6)])
def test_gradient(parameters: tuple[float, ...]) -> None:
    values = np.random.default_rng(0).standard_t(4, 50)
    at = np.array(parameters)
    numeric = approx_fprime(at, lambda p: _penalised(p, values, 1.7)[0], 1e-7)
    np.testing.assert_allclose(_penalised(at, values, 1.7)[1], numeric, rtol=1e-4, atol=1e-3)


def test_density_is_that_of_a_transformed_normal() -> None:
    """Without the penalty, differences of the objective are those of the log density of the values."""
    values, log_densities, objectives = np.array([-1.0, 0.2, 3.0]), [], []
    for at in ((0.0, 0.0, 0.0, 0.0), (0.3, -0.2, 0.4, -0.3)):
        shift, log_scale, skewness, log_tail = at
        units = ColumnUnits(*(np.array(v) for v in (shift, np.exp(log_scale), skewness, np.exp(log_tail), NO_LIMIT)))
        log_densities.append(np.sum(stats.norm.logpdf(units.to_model(values)) + units.log_slopes(values)))
        penalty = 0.5 * (skewness**2 + log_tail**2) / 0.25**2
        objectives.append(penalty - _penalised(np.array(at), values, 1.0)[0])
    assert np.diff(objectives) == pytest.approx(np.diff(log_densities))


@pytest.mark.parametrize(("skewness", "tail"), [(0.6, 0.6), (-0.4, 1.0), (0.0, 0.4), (0.0, 1.0)])
def test_known_shapes_are_found(skewness: float, tail: float) -> None:
    """The transformed column is normal: quantiles of 5000 values have errors of 0.02 in the middle."""
    true = ColumnUnits(*(np.array([v]) for v in (5.0, 2.0, skewness, tail, NO_LIMIT)))
    z = np.random.default_rng(3).normal(size=(5000, 1))
    found = fitted(true.to_data(z)).to_model(true.to_data(z))
    np.testing.assert_allclose(np.quantile(found, stats.norm.cdf([-2, -1, 0, 1, 2])), [-2, -1, 0, 1, 2], atol=0.15)


def test_units_of_the_data_do_not_matter() -> None:
    y = np.exp(np.random.default_rng(4).normal(size=(300, 1)))
    np.testing.assert_allclose(fitted(1e6 + 1e3 * y).to_model(1e6 + 1e3 * y), fitted(y).to_model(y), atol=1e-4)
    mirrored = fitted(-y).to_model(-y)
    np.testing.assert_allclose(mirrored, -fitted(y).to_model(y), atol=1e-3)


def test_few_values_are_hardly_changed() -> None:
    """With FEWEST_VALUES values of a normal distribution, z is nearly linear in y."""
    y = np.random.default_rng(5).normal(size=(FEWEST_VALUES, 1))
    z = fitted(y).to_model(y)
    assert np.corrcoef(y[:, 0], z[:, 0])[0, 1] > 0.99


REPEATED = np.repeat(np.arange(FEWEST_DISTINCT - 1.0), 30)
MOSTLY_ZERO = np.concatenate([np.zeros(100), np.random.default_rng(6).exponential(size=200)])


@pytest.mark.parametrize("values", [np.arange(FEWEST_VALUES - 1.0), REPEATED, MOSTLY_ZERO, np.ones(50)])
def test_columns_without_a_shape_are_standardised(values: Vector) -> None:
    units = fitted(column(values))
    assert units.is_linear
    assert not are_shaped(from_array(column(values)))
    assert units.center[0] == pytest.approx(values.mean())


def test_long_columns_are_represented_by_quantiles() -> None:
    y = np.exp(np.random.default_rng(7).normal(size=(20_000, 1)))
    few, many = fitted(y[:4000]), fitted(y)
    np.testing.assert_allclose(few.to_model(y[:50]), many.to_model(y[:50]), atol=0.1)


def test_light_tails_are_left_as_they_are() -> None:
    """Otherwise a later value far outside the fitted ones would be moved out many times as far."""
    rng = np.random.default_rng(6)
    units = fit_shapes(from_array(rng.uniform(size=(3000, 1))))
    assert units.tail_weight[0] == 1.0
    assert abs(units.to_model(np.array([[50.0]]))[0, 0]) < 500.0


def test_outliers_do_not_break_the_fit() -> None:
    y = np.exp(np.random.default_rng(8).normal(size=(200, 1)))
    y[3] = 1e9
    z = fitted(y).to_model(y)
    assert 0.5 < np.delete(z, 3).std() < 2.0
    assert z.max() < 50.0


@pytest.mark.parametrize("outlier", [1e6, -1e9])
@pytest.mark.parametrize("repeated", [False, True])
def test_gross_outliers_are_brought_nearer_in_their_column(outlier: float, repeated: bool) -> None:
    """Otherwise predictions for their row would be as far, and transformed back."""
    y = np.exp(np.random.default_rng(8).normal(size=(200, 2)))
    y[3, 0] = outlier
    if repeated:  # too few distinct values for a shape
        y[:, 0] = np.where(y[:, 0] == outlier, outlier, np.round(np.minimum(y[:, 0], 3.0)))
    units = fitted(y)
    assert list(units.limit) == [LIMIT, NO_LIMIT]
    assert LIMIT < np.abs(units.to_model(y))[3, 0] < 50.0
    assert np.abs(np.delete(units.to_model(y), 3, axis=0)).max() < 6.0
