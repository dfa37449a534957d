from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from manifill.base.arrays import Vector
from manifill.problem import Observations
from manifill.report.coverage import Ranks, coverage, is_covered, ranks
from manifill.report.report_data import Cells, ReportData, collect_report_data
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations
from tests.report.synthetic_runs import synthetic_model


def ranked(folder: Path, **options: Any) -> tuple[ReportData, Observations, Ranks]:
    model = synthetic_model(folder, **options)
    held_out = load_observations(RunFolder(folder).held_out)
    data = collect_report_data(model, held_out)
    return data, held_out, ranks(np.random.default_rng(0), data, held_out)


@pytest.mark.parametrize("scales", [None, 10.0 ** np.arange(-7, 8)])
def test_ranks_and_predictions_agree(tmp_path: Path, scales: Vector | None) -> None:
    data, held_out, found = ranked(tmp_path / "run", scales=scales)
    rows, cols, values = held_out.triples()
    (predictions,) = data.predict(Cells(rows, cols))
    np.testing.assert_allclose(found.mean, predictions.mean)
    inside = (predictions.lower <= values) & (values <= predictions.upper)
    # Both sample values, so they may differ for values near a bound.
    assert np.mean(inside == is_covered(found, 0.9)) > 0.9


def test_rounding_does_not_hide_ties(tmp_path: Path) -> None:
    # 3 · 0.1 is not 0.3 in binary; a count that ties with the value must still count as a tie.
    _, held_out, found = ranked(tmp_path / "run", likelihood="binomial", trials=10, step=0.1, observed=0.9, level=0.0)
    _, _, values = held_out.triples()
    odd = np.isin(values, (0.3, 0.6, 0.7))
    assert odd.sum() > 5
    assert np.all(found.at_most[odd] > found.below[odd])
    assert found.has_ties


def test_randomised_ranks_are_uniform_if_the_model_is_right() -> None:
    # False alarms: 1 in 1000 (Kolmogorov-Smirnov).
    rng = np.random.default_rng(0)
    values, samples = rng.binomial(3, 0.4, size=2000), rng.binomial(3, 0.4, size=(1000, 2000))
    below, at_most = (samples < values).mean(axis=0), (samples <= values).mean(axis=0)
    found = Ranks(values.astype(float), below, at_most, below + rng.random(2000) * (at_most - below))
    assert kstest(found.randomised, "uniform").pvalue > 1e-3
    ninety = coverage(found, 0.9)
    assert ninety.share > ninety.high  # intervals for discrete values cover more
    assert ninety.low <= ninety.randomised_share <= ninety.high


def test_a_chance_tie_does_not_make_values_discrete() -> None:
    """One tie among 300 values with 8000 samples each."""
    half = np.full(300, 0.5)
    at_most = half.copy()
    at_most[0] += 1 / 8000
    assert not Ranks(half, half, at_most, half).has_ties


def test_median_values_are_always_covered() -> None:
    half = np.full(50, 0.5)
    found = coverage(Ranks(half, half, half, half), 0.5)
    assert found.share == found.randomised_share == 1.0
    assert found.low < 0.5 < found.high
