"""Mean, row and column effects, and a noise for each column, from the outside."""

from typing import Any

import numpy as np
import pytest

from manifill import MatrixCompletion
from manifill.base.arrays import Generator, Matrix, Vector

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

SHORT: dict[str, Any] = {"rank": 1, "chains": 1, "warmup": 150, "draws": 150, "seed": 0, "jobs": 1, "progress": False}


def table_with_a_mean(rng: Generator, m: int = 30, n: int = 20) -> tuple[Matrix, Vector]:
    """Return a table about 50 whose columns have effects of size 5, with a row and a column unobserved."""
    columns = 5.0 * rng.normal(size=n)
    full = 50.0 + columns + np.outer(rng.normal(size=m), rng.normal(size=n)) + 0.3 * rng.normal(size=(m, n))
    holes = np.where(rng.random(full.shape) < 0.7, full, np.nan)
    holes[4, :] = holes[:, 2] = np.nan
    return holes, columns


@pytest.mark.parametrize("sampler", ["joint", "gibbs"])
def test_rows_and_columns_without_data_fall_back_to_the_mean(sampler: str) -> None:
    """A row without data takes the columns' levels, a column without data the overall one; zero is far away.

    Overall 20 columns tell the mean to within 5/√20 = 1.1, and one of them is 5 away from it: bounds of four such.
    The paper's sampler moves levels between the effects and the low-rank part in small steps only, and needs more of
    them to forget its start.
    """
    holes, columns = table_with_a_mean(np.random.default_rng(1))
    length = {"joint": 150, "gibbs": 1000}[sampler]
    settings = SHORT | {"warmup": length, "draws": length}
    model = MatrixCompletion(**settings, sampler=sampler, column_scales=None).fit(holes)
    mean, sd = model.complete()
    seen = np.arange(20) != 2
    np.testing.assert_allclose(mean[4, seen], 50.0 + columns[seen], atol=1.5)
    np.testing.assert_allclose(mean[:, 2], 50.0 + columns[seen].mean(), atol=5.0)
    assert (sd[:, 2] > 2.0).all(), "and says that it does not know"


def test_the_model_without_effects_knows_no_level() -> None:
    """A column without data has no sign then; with effects it is 50 ± 5."""
    holes, _ = table_with_a_mean(np.random.default_rng(1))
    model = MatrixCompletion(**SHORT, sampler="joint", effects=None, column_scales=None).fit(holes)
    assert {"mu", "row_effect", "column_effect"}.isdisjoint(model.posterior_.posterior)
    assert model.model_.effects is None


def test_effects_are_centred_and_add_up_to_the_predictions() -> None:
    holes, _ = table_with_a_mean(np.random.default_rng(2))
    model = MatrixCompletion(**SHORT, sampler="joint", column_scales=None).fit(holes)
    p = model.posterior_
    np.testing.assert_allclose(p.row_effect.mean(axis=-1), 0.0, atol=1e-12)
    np.testing.assert_allclose(p.column_effect.mean(axis=-1), 0.0, atol=1e-12)
    X = np.einsum("kdir,kdr,kdjr->kdij", p.U, p.s, p.V) + p.mu[..., None, None]
    X += p.row_effect[..., :, None] + p.column_effect[..., None, :]
    np.testing.assert_allclose(model.complete()[0], X.mean(axis=(0, 1)), rtol=1e-10)


def test_noise_by_column_widens_the_intervals_of_noisy_columns_only() -> None:
    rng = np.random.default_rng(3)
    sigma = np.repeat([0.1, 1.0], 5)
    table = np.outer(rng.normal(size=60), rng.normal(size=10)) + sigma * rng.normal(size=(60, 10))
    model = MatrixCompletion(**SHORT, sampler="joint", noise="column", column_scales=None).fit(table)
    drawn = model.posterior_.sigma[..., None] * model.posterior_.column_noise
    assert drawn.shape == (1, 150, 10)
    np.testing.assert_allclose(drawn.mean(axis=(0, 1)), sigma, rtol=0.34)
    p = model.predict(np.zeros(10, dtype=int), np.arange(10))
    assert (p.upper - p.lower)[5:].min() > 3.0 * (p.upper - p.lower)[:5].max()
