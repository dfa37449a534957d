"""The series of held-out scores: their means are the scores, and their standard errors those of the scores."""

from dataclasses import replace

import numpy as np
import pytest

from manifill import Gaussian
from manifill.posterior import held_out_series, score
from manifill.posterior.held_out_series import LOG_DENSITY, SQUARED_ERROR
from manifill.posterior.quantities import summaries
from manifill.problem import Observations
from tests.posterior.runs import ALL_KINDS, M, N, random_run


def cells() -> Observations:
    rows, cols = np.divmod(np.arange(0, M * N, 3), N)
    return Observations.from_triples(rows, cols, np.random.default_rng(0).normal(size=rows.size), (M, N))


@pytest.mark.parametrize("kind", ["U s V", "U s V, effects, noise by column"])
def test_means_are_the_scores(kind: str) -> None:
    draws = random_run([50] * 4, variables=ALL_KINDS[kind])
    found = held_out_series(np.random.default_rng(1), draws, Gaussian(), cells())
    expected = score(np.random.default_rng(1), draws, Gaussian(), *cells().triples())
    assert found[SQUARED_ERROR].mean() == pytest.approx(expected.rmse**2)
    assert found[LOG_DENSITY].mean() == pytest.approx(expected.log_density)


def test_standard_errors_are_those_of_the_scores() -> None:
    """The scores of 40 independent runs scatter by the Monte Carlo errors, which shows their size to 11 %."""
    whole = random_run([100] * 40)
    found = []
    for k in range(40):
        alone = {name: values[k : k + 1] for name, values in whole.posterior.items()}
        one = replace(whole, posterior=alone, statistics={})
        found.append(summaries(held_out_series(np.random.default_rng(1), one, Gaussian(), cells())))
    for quantities in zip(*found, strict=True):
        scatter = np.std([q.mean for q in quantities], ddof=1)
        # 100 draws give the effective size, and with it the error, to some 15 %; their mean is more precise.
        assert scatter == pytest.approx(np.mean([q.monte_carlo_error for q in quantities]), rel=0.4)  # 3.5 sd
