"""Completed tables for multiple imputation: known values are kept, the others are draws of y."""

import numpy as np
import pytest

from manifill.likelihoods import Gaussian
from manifill.posterior import predict
from manifill.posterior.imputations import imputed_tables
from manifill.problem import Observations
from tests.posterior.runs import FACTOR_VARIABLES, M, N, random_run

KNOWN = (
    Observations.from_triples([0, 2], [1, 3], [7.0, -5.0], (M, N)),
    Observations.from_triples([5], [0], [1.5], (M, N)),
)


def test_known_values_are_kept_and_the_others_are_drawn() -> None:
    draws = random_run([50, 50], variables=FACTOR_VARIABLES)
    tables = imputed_tables(np.random.default_rng(0), draws, Gaussian(), KNOWN, 10)
    assert len(tables) == 10
    for table in tables:
        assert (table[0, 1], table[2, 3], table[5, 0]) == (7.0, -5.0, 1.5)
        assert np.isfinite(table).all()
    spread = np.std(tables, axis=0)
    assert np.count_nonzero(spread == 0.0) == 3


def test_tables_vary_as_predictions_do() -> None:
    """Means and standard deviations over 1000 tables, 21 of each: one beyond 5 standard errors has a chance of 2e-5."""
    draws = random_run([500, 500], variables=FACTOR_VARIABLES)
    tables = np.array(imputed_tables(np.random.default_rng(0), draws, Gaussian(), KNOWN, 1000))
    rows, cols = np.nonzero(tables.std(axis=0))
    found = predict(np.random.default_rng(0), draws, Gaussian(), rows, cols)
    error = found.sd / np.sqrt(1000)
    assert np.abs((tables.mean(axis=0)[rows, cols] - found.mean) / error).max() < 5.0
    assert np.abs(tables.std(axis=0)[rows, cols] / found.sd - 1.0).max() < 5.0 / np.sqrt(2 * 1000) * 1.2


def test_entries_of_a_table_come_from_one_draw() -> None:
    """Noise apart, two columns that are equal in every draw are equal in every table."""
    draws = random_run([20, 20], variables=FACTOR_VARIABLES)
    draws.posterior["B"][:, :, 1] = draws.posterior["B"][:, :, 2]
    draws.posterior["sigma"][:] = 1e-9
    tables = imputed_tables(np.random.default_rng(0), draws, Gaussian(), KNOWN[1:], 8)
    for table in tables:
        np.testing.assert_allclose(table[:, 1], table[:, 2], atol=1e-6)
    assert np.std(tables, axis=0)[:, 1].min() > 1e-3


def test_more_tables_than_draws_are_refused() -> None:
    with pytest.raises(ValueError, match="has 40; request 1 to 40"):
        imputed_tables(np.random.default_rng(0), random_run([20, 20]), Gaussian(), KNOWN, 41)
