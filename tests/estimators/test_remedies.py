"""What a verdict recommends, followed until predictions are green."""

from typing import Any

import pytest

from manifill import MatrixCompletion
from manifill.posterior import Colour
from tests.estimators.tables import low_rank_table

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

TABLE = low_rank_table(30, 20, rank=1)[1]


def fitted(warmup: int, draws: int) -> MatrixCompletion:
    settings: dict[str, Any] = {"sampler": "joint", "rank": 1, "warmup": warmup, "draws": draws}
    return MatrixCompletion(**settings, seed=0, progress=False).fit(TABLE)


def test_the_recommended_draws_make_predictions_green() -> None:
    few = fitted(300, 60).diagnostics_.predictions
    assert few.colour != Colour.GREEN
    assert any(f"draws={few.advised_draws}" in reason for reason in few.reasons)
    assert fitted(300, few.advised_draws).diagnostics_.converged


def test_chains_that_disagree_for_want_of_warm_up_agree_with_more() -> None:
    early, late = (fitted(warmup, 400).diagnostics_.predictions for warmup in (2, 300))
    assert early.colour == Colour.RED
    assert any("more warmup)" in reason for reason in early.reasons)
    assert not any("warmup" in reason for reason in late.reasons)
