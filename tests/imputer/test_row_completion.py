"""Rows given their observed cells, compared with the textbook formula for normal vectors."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from manifill import Draws, MatrixCompletion
from manifill.base.arrays import Vector
from manifill.imputer import row_completion
from manifill.imputer.row_completion import complete_rows
from tests.imputer.synthetic_table import table_with_missing_values

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

QUICK: dict[str, Any] = {"rank": 2, "chains": 2, "warmup": 50, "draws": 50, "seed": 0, "jobs": 1, "progress": False}
QUICK["column_transform"] = None


def textbook_conditional(posterior: Draws, row: Vector) -> tuple[Vector, Vector]:
    """Condition the joint normal distribution of all cells of a row on those observed, draw by draw, and mix."""
    n, m = row.size, posterior.shape[0]
    scales = np.broadcast_to(posterior.column_scales, n)
    seen, y = ~np.isnan(row), row / scales
    means, variances = [], []
    for chain in range(posterior.chains):
        for k in range(posterior.draws):
            draw = {name: array[chain, k] for name, array in posterior.posterior.items()}
            center = draw["mu"] + draw["column_effect"]
            if "V" in draw:
                latent = (draw["V"] * draw["s"] ** 2 / m) @ draw["V"].T + draw["row_effect_sd"] ** 2
            else:
                latent = (draw["B"] / draw["tau_A"]) @ draw["B"].T + draw["row_effect_sd"] ** 2
            sigma = draw["sigma"] * draw.get("column_noise", 1.0)
            weights, of_row = [], []
            for square, log_prior in row_variances(draw):
                noise = square * np.eye(n) * sigma**2
                of_seen = (latent + noise)[np.ix_(seen, seen)]
                evidence = stats.multivariate_normal.logpdf(y[seen], center[seen], of_seen) if seen.any() else 0.0
                weights.append(evidence + log_prior)
                gain = latent[:, seen] @ np.linalg.inv(of_seen)
                of_row.append((center + gain @ (y - center)[seen], np.diag(latent - gain @ latent[seen] + noise)))
            weights = np.exp(weights - np.max(weights))
            mean = np.average([one for one, _ in of_row], axis=0, weights=weights)
            second = np.average([v + one**2 for one, v in of_row], axis=0, weights=weights)
            means.append(mean)
            variances.append(second - mean**2)
    mean, variance = np.mean(means, axis=0), np.mean(variances, axis=0) + np.var(means, axis=0)
    return scales * mean, scales * np.sqrt(variance)


def row_variances(draw: dict[str, Any]) -> list[tuple[float, float]]:
    """Return squares of the row's own factor of σ, and the log prior of the logarithm of the factor's precision."""
    if "row_noise_width" not in draw:
        return [(1.0, 0.0)]
    shape = draw["row_noise_width"] ** -2.0
    precisions = np.exp(np.linspace(-3.25, 3.25, 27))
    return [(1.0 / p, stats.gamma.logpdf(p, shape, scale=1.0 / shape) + np.log(p)) for p in precisions]


def test_the_noise_of_a_row_is_that_of_its_own_cells() -> None:
    """One row has four times the noise of the others, as ``complete`` has found from the same cells."""
    rng = np.random.default_rng(2)
    table = np.outer(rng.normal(size=40), rng.normal(size=60)) + 0.3 * rng.normal(size=(40, 60))
    table[7] += 1.16 * rng.normal(size=60)
    table[rng.random(table.shape) < 0.15] = np.nan
    settings = QUICK | {"sampler": "factors", "noise": "row", "warmup": 100, "draws": 200, "column_scales": None}
    model = MatrixCompletion(**settings).fit(table)
    _, sd = complete_rows(model.posterior_, table[[3, 7]])
    np.testing.assert_allclose(sd, model.complete()[1][[3, 7]], rtol=0.1)
    assert sd[1].mean() > 2.5 * sd[0].mean()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"column_scales": "standardize"},
        {"noise": "column"},
        {"noise": "both"},
        {"sampler": "factors", "noise": "row"},
    ],
    ids=str,
)
def test_completion_agrees_with_the_textbook_formula(changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows with many, few and no observed cells; more rows than in one block."""
    monkeypatch.setattr(row_completion, "BLOCK_ROWS", 2)
    holes = table_with_missing_values(m=30)[1]
    posterior = MatrixCompletion(**QUICK, **changes).fit(holes[:25]).posterior_
    rows = holes[25:].copy()
    rows[1, 2:] = np.nan
    rows[2] = np.nan
    mean, sd = complete_rows(posterior, rows)
    for k, row in enumerate(rows):
        np.testing.assert_allclose((mean[k], sd[k]), textbook_conditional(posterior, row), rtol=1e-9)


@pytest.mark.parametrize(("some", "kept"), [(7, [0, 12, 25, 37]), (100, range(50)), (101, range(50))])
def test_draws_are_thinned_evenly_over_all_chains(
    some: int, kept: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven of 100 draws are rounded up to four from each of two chains."""
    monkeypatch.setattr(row_completion, "DRAWS", some)
    holes = table_with_missing_values(m=30)[1]
    posterior = MatrixCompletion(**QUICK).fit(holes).posterior_
    arrays = {name: array[:, list(kept)] for name, array in posterior.posterior.items()}
    mean, sd = complete_rows(posterior, holes[:1])
    np.testing.assert_allclose((mean[0], sd[0]), textbook_conditional(replace(posterior, posterior=arrays), holes[0]))
