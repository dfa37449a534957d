"""Simulation-based calibration of the default sampler, a slice in every run and the whole among the statistical tests.

Seeds were chosen once; they are not to be changed to make a test pass.
"""

import numpy as np
import pytest

from tests.exact.sbc import MODELS, names, p_values, ranks, table, z_scores
from tests.exact.zscores import false_alarm_rate

BOUND, LEVEL, BINS = 4.0, 0.01, 8
TOTAL = sum(len(names(model)) for model in MODELS.values())


def test_a_slice_of_ranks_is_uniform() -> None:
    """Means and spreads of ranks of 12 quantities: false-alarm rate 0.15 %."""
    model = MODELS["gaussian"]
    z = z_scores(ranks(np.random.default_rng(41), model, sets=20))
    assert false_alarm_rate(BOUND, z.size) < 0.00155
    assert np.abs(z).max() < BOUND, dict(zip(names(model), z.T, strict=True))


@pytest.mark.statistical
@pytest.mark.parametrize("name", MODELS)
def test_ranks_are_uniform(name: str) -> None:
    """χ² over eight bins at the level 1 %, divided by the 44 quantities of all four likelihoods (Bonferroni)."""
    model = MODELS[name]
    found = ranks(np.random.default_rng(42), model, sets=256, processes=2)
    shown = table(model, found, BINS)
    print(shown)
    assert p_values(found, BINS).min() > LEVEL / TOTAL, shown


def test_the_number_of_quantities_is_as_stated() -> None:
    assert TOTAL == 44
