"""map_estimate: every form of data, predictions in the data's units, and refusals that say what to do."""

import doctest
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import manifill.estimators.map_estimate
from manifill.base.arrays import Matrix
from manifill.estimators.map_estimate import map_estimate
from manifill.likelihoods import Gaussian

TRIPLES = ([0, 1, 2], [0, 1, 0], [1.0, 2.0, 3.0])


def holed_table() -> Matrix:
    rng = np.random.default_rng(1)
    table = 3.0 + rng.normal(size=(25, 2)) @ rng.normal(size=(2, 15)) + 0.2 * rng.normal(size=(25, 15))
    table[rng.random(table.shape) < 0.4] = np.nan
    return table


def test_forms_of_data_give_the_same_estimate() -> None:
    table = holed_table()
    rows, cols = np.nonzero(~np.isnan(table))
    values = table[rows, cols]
    frame = pd.DataFrame({"who": [f"r{i:02d}" for i in rows], "what": cols, "value": values})
    order = np.random.default_rng(0).permutation(len(values))
    expected = map_estimate(table)
    assert expected.certificate.converged
    for data in (
        (rows[order], cols[order], values[order]),
        (csr_array((values, (rows, cols)), shape=table.shape),),
        (frame,),
    ):
        np.testing.assert_array_equal(map_estimate(*data).s, expected.s)
    by_label = map_estimate(frame).predict(["r00", "r03"], [1, 2])
    np.testing.assert_array_equal(by_label, expected.predict([0, 3], [1, 2]))
    np.testing.assert_allclose(by_label, expected.complete()[[0, 3], [1, 2]], rtol=1e-12)


def test_predictions_are_in_the_data_s_units() -> None:
    rng = np.random.default_rng(2)
    x = 1.5 * rng.normal(size=(30, 1)) @ rng.normal(size=(1, 20))
    stars = 0.5 * rng.binomial(10, 1 / (1 + np.exp(-x)))
    seen = rng.random(x.shape) < 0.6
    found = map_estimate(np.where(seen, stars, np.nan), likelihood="binomial", trials=10, step=0.5)
    filled = found.complete()
    assert filled.min() > 0.0
    assert filled.max() < 5.0
    assert np.sqrt(np.mean((filled - stars)[~seen] ** 2)) < 0.8 * stars.std()


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("effects", [None, "additive"])
def test_units_do_not_matter(unit: float, effects: str | None) -> None:
    expected, found = (map_estimate(scale * holed_table(), effects=effects) for scale in (1.0, unit))
    np.testing.assert_allclose(found.complete(), unit * expected.complete(), rtol=1e-3)
    assert found.sigma == pytest.approx(unit * expected.sigma, rel=1e-3)
    assert found.lambda_ == pytest.approx(expected.lambda_ / unit, rel=1e-3)
    assert found.certificate.converged


def test_softplus_and_a_cap() -> None:
    table = np.abs(holed_table())
    found = map_estimate(table, likelihood="softplus", rank=2)
    assert found.rank <= 2
    assert (found.complete() > 0.0).all()


def test_effects_can_be_left_out() -> None:
    without = map_estimate(holed_table(), effects=None)
    assert without.effects is None
    assert without.mu == 0.0
    assert not without.row_effects.any()
    with_them = map_estimate(holed_table())
    assert with_them.effects is not None
    assert with_them.mu == pytest.approx(3.0, abs=0.5)


def test_the_seed_chooses_the_cells_held_out() -> None:
    table = holed_table()
    first, again, other = (map_estimate(table, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.complete(), again.complete())
    assert first.path != other.path


def test_an_estimate_that_is_no_mode_warns() -> None:
    with pytest.warns(RuntimeWarning, match=r"not the mode to tolerance=1e-15.*alignment.*higher tolerance"):
        found = map_estimate(holed_table(), tolerance=1e-15, lambda_=2.0, sigma=1.0)
    assert not found.certificate.converged
    assert max(found.certificate.residuals) < 1e-8
    assert found.iterations < 1000  # it knows when it can do no better


def test_the_example_runs() -> None:
    results = doctest.testmod(manifill.estimators.map_estimate)
    assert results.attempted > 0
    assert results.failed == 0


def test_an_estimate_prints_in_a_few_lines() -> None:
    assert len(repr(map_estimate(holed_table()))) < 2000


REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "rank zero": ({"rank": 0}, "rank.*0"),
    "rank too high": ({"rank": 3}, r"rank=3.*min\(m, n\) = 2"),
    "rank fractional": ({"rank": 1.5}, "rank.*1.5"),
    "lambda": ({"lambda_": 0.0}, "lambda_.*0"),
    "sigma": ({"sigma": -1.0}, "sigma.*-1"),
    "sigma too small": ({"sigma": 1e-200}, "sigma=1e-200.*scale the data"),
    "sigma in vain": ({"likelihood": "binomial", "trials": 5, "sigma": 1.0}, "sigma=1.0.*'binomial'"),
    "tolerance": ({"tolerance": 0.0}, "tolerance.*0"),
    "effects": ({"effects": "rows"}, "effects='rows'.*'additive', None"),
    "seed": ({"seed": -1}, "seed.*-1"),
    "likelihood": ({"likelihood": "weibull"}, "likelihood='weibull'"),
    "likelihood class": ({"likelihood": Gaussian}, "neither a name"),
    "no trials": ({"likelihood": "binomial"}, "needs trials"),
    "too few trials": ({"likelihood": "binomial", "trials": 2}, "the data hold 3"),
    "step in vain": ({"step": 0.5}, "step.*'gaussian'"),
    "duplicates": ({"duplicates": "sum"}, "duplicates.*'sum'"),
    "shape": ({"shape": (1, 1)}, "shape"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    settings, message = REFUSALS[name]
    with pytest.raises(ValueError, match=message) as refused:
        map_estimate(*TRIPLES, **settings)
    assert len(str(refused.value)) < 400


def test_data_are_refused_as_by_a_fit() -> None:
    with pytest.raises(ValueError, match=r"more than once.*duplicates='average'"):
        map_estimate([0, 0], [1, 1], [1.0, 2.0])
    with pytest.raises(ValueError, match="empty"):
        map_estimate(np.full((3, 3), np.nan))
    with pytest.raises(ValueError, match="same length, not 2 and 1"):
        map_estimate(holed_table()).predict([0, 1], [0])
    with pytest.raises(ValueError, match="rows holds the index 99"):
        map_estimate(holed_table()).predict([99], [0])


def test_columns_in_different_units_are_completed_as_well_as_in_one(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(4)
    table = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 12)) + 0.3 * rng.normal(size=(40, 12))
    units, seen = 10.0 ** rng.integers(-3, 4, 12), rng.random(table.shape) < 0.7
    holes = np.where(seen, table, np.nan)
    with caplog.at_level("INFO", "manifill"):
        one, many = map_estimate(holes), map_estimate(holes * units)
    assert caplog.text.count("columns are divided by their spreads") == 1
    error, other = (
        np.sqrt(np.mean((filled - table)[~seen] ** 2)) for filled in (one.complete(), many.complete() / units)
    )
    assert other < 1.1 * error
    rows, cols = np.nonzero(~seen)
    np.testing.assert_allclose(many.predict(rows, cols), many.complete()[rows, cols], rtol=1e-12)


def test_columns_stay_as_they_are_where_sigma_is_given(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="manifill")
    units = np.repeat([1.0, 1000.0], [7, 8])
    found = map_estimate(holed_table() * units, sigma=1.0)
    assert found.column_scales == 1.0
    assert "not scaled, because of sigma" in caplog.text
    assert map_estimate(holed_table() * units, column_scales=None).column_scales == 1.0
