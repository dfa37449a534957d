"""Geweke's joint test for both samplers, short in every run and long among the statistical tests.

The bound on |z| is 4.  Each run makes 3·19 + 16 = 73 comparisons: false-alarm rate 0.5 %.  Seeds were chosen once; they
are not to be changed to make a test pass.
"""

import numpy as np
import pytest

from manifill.problem import Gaussian
from manifill.sampling.factors import Factors
from manifill.sampling.gibbs import Gibbs
from tests.exact.geweke import Case, z_scores
from tests.sampling.problems import LIKELIHOODS

BOUND = 4.0
CASES = {f"gibbs {name}": Case(Gibbs, likelihood) for name, likelihood in LIKELIHOODS.items()}
CASES["factors"] = Case(Factors, Gaussian())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_short(case: Case) -> None:
    z = z_scores(case, np.random.default_rng(31), draws=2000)
    assert np.abs(z).max() < BOUND, z


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_long(case: Case) -> None:
    z = z_scores(case, np.random.default_rng(32), draws=40_000)
    assert np.abs(z).max() < BOUND, z
