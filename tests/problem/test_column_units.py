"""Units of columns: transforms that are undone exactly, their slopes, and moments of transformed values."""

import json

import numpy as np
import pytest
from scipy import integrate, stats

from manifill.problem import Observations
from manifill.problem.column_units import NO_LIMIT, SAME_UNITS, ColumnUnits

SHAPED = ColumnUnits(
    center=np.array([0.0, -3.0, 1e4, 2.0]),
    scale=np.array([1.0, 0.02, 300.0, 5.0]),
    skewness=np.array([0.0, 0.7, -1.5, 0.3]),
    tail_weight=np.array([1.0, 0.45, 2.5, 0.31]),
    limit=np.full(4, NO_LIMIT),
)
LIMITED = SHAPED._replace(limit=np.array([2.0, 3.0, NO_LIMIT, 0.5]))
SCALED = ColumnUnits.divided_by(np.array([2.0, 1e-3, 7.0, 1.0]))
STANDARDISED = SCALED._replace(center=np.array([-3.0, 50.0, 0.0, 1e3]))
ALL = {"same": SAME_UNITS, "scaled": SCALED, "standardised": STANDARDISED, "shaped": SHAPED, "limited": LIMITED}


@pytest.mark.parametrize("units", ALL.values(), ids=ALL)
def test_values_come_back(units: ColumnUnits) -> None:
    z = np.random.default_rng(0).normal(size=(200, 4)) * 4.0
    np.testing.assert_allclose(units.to_model(units.to_data(z)), z, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("units", ALL.values(), ids=ALL)
def test_slopes_are_derivatives(units: ColumnUnits) -> None:
    y = units.to_data(np.array([[-2.5, 0.4, -0.3, 1.1], [0.0, 3.0, 2.0, -4.0]]))
    step = 1e-6 * units.spreads
    slopes = (units.to_model(y + step) - units.to_model(y - step)) / (2.0 * step)
    np.testing.assert_allclose(np.exp(units.log_slopes(y)), slopes, rtol=1e-5)
    assert (slopes > 0.0).all()


def test_spreads_do_not_depend_on_the_centre() -> None:
    """Next to which they may be too small to be seen, as those of times in nanoseconds."""
    far = SHAPED._replace(center=np.full(4, 1.7e18))
    np.testing.assert_allclose(far.spreads, SHAPED._replace(center=np.zeros(4)).spreads)
    assert (far.spreads > 0.0).all()


@pytest.mark.parametrize("units", [SHAPED, LIMITED], ids=["shaped", "limited"])
def test_slopes_of_far_values_are_finite(units: ColumnUnits) -> None:
    far = units.center + units.scale * np.array([[1e60], [-1e60]])
    assert np.isfinite(units.log_slopes(far)).all()
    assert np.isfinite(units.to_model(far)).all()


def test_beyond_a_limit_values_are_logarithms() -> None:
    """A million times as far is 14 farther, and what is far is not too far for its square to be computed."""
    units = SAME_UNITS._replace(limit=np.array(12.0))
    np.testing.assert_allclose(units.to_model(np.array([11.0, -12.0, 1e6, -1e12])), [11, -12, 25.8155, -39.631], 1e-5)
    mean, variance = LIMITED.moments(np.full(4, 1e4), np.full(4, 1e4))
    assert np.isfinite(mean).all()
    assert np.isfinite(variance).all()


def test_runs_without_limits_have_none() -> None:
    stored = SHAPED.to_attributes()
    del stored["column_transform"]["limit"]
    assert not np.any(ColumnUnits.of_attributes(stored).limit < NO_LIMIT)


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize(("mean", "sd"), [(0.0, 1.0), (-1.3, 0.2), (2.0, 0.7)])
def test_moments_are_integrals(column: int, mean: float, sd: float) -> None:
    """The quadrature has few nodes; its error is far below the Monte Carlo error of any fit."""
    units = SHAPED.at(np.array([column]))

    def expectation(power: int) -> float:
        def integrand(z: float) -> float:
            return float(units.to_data(np.array([z]))[0] ** power * stats.norm.pdf(z, mean, sd))

        return float(integrate.quad(integrand, mean - 12 * sd, mean + 12 * sd, points=[mean], limit=500)[0])

    found, variance = units.moments(np.array([mean]), np.array([sd**2]))
    true = expectation(2) - expectation(1) ** 2
    assert found[0] == pytest.approx(expectation(1), abs=2e-3 * np.sqrt(true))
    assert variance[0] == pytest.approx(true, rel=0.02)


def test_scaled_columns_have_exact_moments() -> None:
    mean, variance = SCALED.moments(np.array([[1.0, 2.0, 3.0, 4.0]]), np.full((1, 4), 4.0))
    np.testing.assert_array_equal(mean, SCALED.scale * [[1.0, 2.0, 3.0, 4.0]])
    np.testing.assert_array_equal(variance, SCALED.scale**2 * np.full((1, 4), 4.0))


@pytest.mark.parametrize("units", ALL.values(), ids=ALL)
def test_a_run_stores_units(units: ColumnUnits) -> None:
    stored = json.loads(json.dumps(units.to_attributes()))
    assert ("column_scales" in stored) == (units.scale.ndim > 0)
    assert ("column_transform" in stored) == bool(np.any(units.center))
    for before, after in zip(units, ColumnUnits.of_attributes(stored), strict=True):
        np.testing.assert_array_equal(before, after)


def test_spreads_are_in_the_unit_of_the_data() -> None:
    np.testing.assert_array_equal(SCALED.spreads, SCALED.scale)
    z = np.random.default_rng(1).normal(size=(4000, 4))
    half = 0.5 * np.subtract(*np.quantile(SHAPED.to_data(z), (0.8413, 0.1587), axis=0))
    np.testing.assert_allclose(SHAPED.spreads, half, rtol=0.1)


def test_observations_are_changed_by_column() -> None:
    y = SHAPED.to_data(np.array([[0.5, -1.0, 2.0, 0.0], [1.5, 0.3, -2.0, 1.0]]))
    rows, cols = np.array([0, 0, 1, 1]), np.array([1, 3, 0, 2])
    found = SHAPED.observations(Observations.from_triples(rows, cols, y[rows, cols], (2, 4)))
    np.testing.assert_allclose(found.triples()[2], [-1.0, 0.0, 1.5, -2.0], atol=1e-12)
