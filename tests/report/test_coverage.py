import numpy as np
import pytest
from scipy.stats import kstest

from manifill.report.coverage import Ranks, coverage, covered, ranks
from manifill.report.study import Cells, study_of
from manifill.runs import RunFolder, load_observations

from .runs import made_up_model


def judged(folder, **options):
    model = made_up_model(folder, **options)
    study = study_of(model, load_observations(RunFolder(folder).held_out))
    return study, ranks(np.random.default_rng(0), study, study.held_out)


@pytest.mark.parametrize("scales", [None, 10.0 ** np.arange(-7, 8)])
def test_ranks_and_predictions_agree(tmp_path, scales):
    study, found = judged(tmp_path / "run", scales=scales)
    rows, cols, values = study.held_out.triples()
    (answer,) = study.ask(Cells(rows, cols))
    np.testing.assert_allclose(found.mean, answer.mean)
    inside = (answer.lower <= values) & (values <= answer.upper)
    # Both sample values; they may differ where one is near a bound.
    assert np.mean(inside == covered(found, 0.9)) > 0.9


def test_steps_need_not_be_exact_in_binary(tmp_path):
    # 3 · 0.1 is not 0.3: a count that ties with the value must be seen to.
    study, found = judged(tmp_path / "run", likelihood="binomial", trials=10, step=0.1, observed=0.9, level=0.0)
    _, _, values = study.held_out.triples()
    odd = np.isin(values, (0.3, 0.6, 0.7))
    assert odd.sum() > 5
    assert np.all(found.at_most[odd] > found.below[odd])
    assert found.has_ties


def test_split_ties_are_uniform_where_the_model_is_right():
    # False alarms: 1 in 1000 (Kolmogorov-Smirnov).
    rng = np.random.default_rng(0)
    values, samples = rng.binomial(3, 0.4, size=2000), rng.binomial(3, 0.4, size=(1000, 2000))
    below, at_most = (samples < values).mean(axis=0), (samples <= values).mean(axis=0)
    found = Ranks(values, below, at_most, below + rng.random(2000) * (at_most - below))
    assert kstest(found.split, "uniform").pvalue > 1e-3
    ninety = coverage(found, 0.9)
    assert ninety.share > ninety.high  # intervals of steps cover more
    assert ninety.low <= ninety.split_share <= ninety.high


def test_values_that_always_lie_inside_are_covered():
    half = np.full(50, 0.5)
    found = coverage(Ranks(half, half, half, half), 0.5)
    assert found.share == found.split_share == 1.0
    assert found.low < 0.5 < found.high
