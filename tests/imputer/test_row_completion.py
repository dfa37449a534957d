"""Rows given their observed cells, compared with the textbook formula for normal vectors."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from manifill import Draws, MatrixCompletion
from manifill.base.arrays import Vector
from manifill.imputer import row_completion
from manifill.imputer.row_completion import complete_rows
from tests.imputer.synthetic_table import table_with_missing_values

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

QUICK: dict[str, Any] = {"rank": 2, "chains": 2, "warmup": 50, "draws": 50, "seed": 0, "jobs": 1, "progress": False}


def textbook_conditional(posterior: Draws, row: Vector) -> tuple[Vector, Vector]:
    """Condition the joint normal distribution of all cells of a row on those observed, draw by draw, and mix."""
    n, m = row.size, posterior.shape[0]
    scales = np.broadcast_to(posterior.column_scales, n)
    seen, y = ~np.isnan(row), row / scales
    means, variances = [], []
    for chain in range(posterior.chains):
        for k in range(posterior.draws):
            V, s, sigma = (getattr(posterior, name)[chain, k] for name in ("V", "s", "sigma"))
            center = posterior.mu[chain, k] + posterior.column_effect[chain, k]
            latent = (V * s**2 / m) @ V.T + posterior.row_effect_sd[chain, k] ** 2
            noise = np.eye(n) * sigma**2
            gain = latent[:, seen] @ np.linalg.inv((latent + noise)[np.ix_(seen, seen)])
            means.append(center + gain @ (y - center)[seen])
            variances.append(np.diag(latent - gain @ latent[seen] + noise))
    mean, variance = np.mean(means, axis=0), np.mean(variances, axis=0) + np.var(means, axis=0)
    return scales * mean, scales * np.sqrt(variance)


@pytest.mark.parametrize("changes", [{}, {"column_scales": "standardize"}, {"noise": "column"}], ids=str)
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
