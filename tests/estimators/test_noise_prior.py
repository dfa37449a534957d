"""The prior of the noise: the default one lets σ follow data without noise, and holds it where data cannot."""

from typing import Any

import numpy as np
import pytest

from manifill import MatrixCompletion
from manifill.base.priors import Gamma, ScaledF
from manifill.problem import from_array, scaled_noise_prior
from tests.problem.likelihoods import precision_of

from .tables import low_rank_table

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

QUICK: dict[str, Any] = {
    "sampler": "joint",
    "chains": 2,
    "warmup": 200,
    "draws": 200,
    "seed": 0,
    "jobs": 1,
    "progress": False,
}


def diverged(model: MatrixCompletion) -> int:
    return model.diagnostics_.divergences


def test_the_paper_s_prior_has_a_name() -> None:
    shortest = QUICK | {"rank": 1, "chains": 1, "warmup": 5, "draws": 5}
    table = low_rank_table()[1]
    paper = MatrixCompletion(**shortest, noise_prior="paper").fit(table)
    MatrixCompletion(**shortest, noise_prior=np.array([2.0, 1.0])).fit(table)  # type: ignore[arg-type]
    assert precision_of(paper.model_.noise) == Gamma(1e-4, 1e-4)
    default = precision_of(MatrixCompletion(**shortest).fit(table).model_.noise)
    assert isinstance(default, ScaledF)
    assert default == scaled_noise_prior(from_array(table), effects=True)


@pytest.mark.parametrize("effects", [None, "additive"])
def test_data_without_noise_are_found_again(effects: str | None) -> None:
    full, holes = low_rank_table(30, 20, noise=0.0)
    model = MatrixCompletion(rank=2, effects=effects, **QUICK).fit(holes)
    hidden = np.isnan(holes)
    mean, sd = model.complete()
    assert np.median(np.abs(mean - full)[hidden]) < 1e-3 * full.std()
    assert np.median(sd[hidden]) < 1e-2 * full.std()
    assert diverged(model) == 0


@pytest.mark.parametrize("effects", [None, "additive"])
def test_sigma_stays_where_there_are_fewer_cells_than_unknowns(effects: str | None) -> None:
    """30 numbers for 85 degrees of freedom: any σ down to zero would explain them."""
    rng = np.random.default_rng(3)
    full = rng.normal(size=(12, 5)) @ rng.normal(size=(5, 10))
    rows, cols = np.divmod(rng.choice(full.size, 30, replace=False), 10)
    model = MatrixCompletion(rank=5, effects=effects, **QUICK).fit(rows, cols, full[rows, cols], shape=full.shape)
    assert np.quantile(model.posterior_.sigma, 0.01) > 0.02 * full.std()
    assert diverged(model) == 0
    every_row, every_column = np.indices(full.shape).reshape(2, -1)
    interval = model.predict(every_row, every_column, interval=0.9)
    assert np.mean((interval.lower <= full.ravel()) & (full.ravel() <= interval.upper)) > 0.75
