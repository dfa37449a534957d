"""Geweke's joint test for every sampler, short in every run and long among the statistical tests.

The bound on |z| is 4.  Each of the two runs makes 761 comparisons: false-alarm rate 4.8 %.  In the short run, a case
beyond the bound is run again with four times the draws, which leaves 0.3 %.  Seeds were chosen once; they are not to be
changed to make a test pass.
"""

import numpy as np
import pytest

from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.joint_sampler import Joint
from manifill.sampling.paper_gibbs import Gibbs
from tests.exact.geweke import direct, z_scores
from tests.exact.simulated import COMPONENTS, EFFECTS, HEAVY, Case
from tests.exact.zscores import false_alarm_rate
from tests.sampling.problems import LIKELIHOODS

GAUSSIAN, SOFTPLUS, BINOMIAL = (LIKELIHOODS[name] for name in ("gaussian", "softplus", "binomial"))
BOUND = 4.0
CASES = {f"gibbs {name}": Case(Gibbs, likelihood) for name, likelihood in LIKELIHOODS.items()}
CASES |= {
    "factors": Case(Factors, GAUSSIAN),
    "factors, heavy-tailed noise": Case(Factors, GAUSSIAN, noise=HEAVY),
    "gibbs gaussian, effects": Case(Gibbs, GAUSSIAN, EFFECTS, HEAVY),
    "gibbs softplus, effects": Case(Gibbs, SOFTPLUS, EFFECTS),
    "gibbs binomial, effects": Case(Gibbs, BINOMIAL, EFFECTS),
}
CASES |= {f"joint {name}": Case(Joint, likelihood) for name, likelihood in LIKELIHOODS.items()}
CASES |= {f"joint {name}, effects": Case(Joint, likelihood, EFFECTS, HEAVY) for name, likelihood in LIKELIHOODS.items()}
CASES |= {
    "joint gaussian, noise by row": Case(Joint, GAUSSIAN, by="row"),
    "joint gaussian, noise by column": Case(Joint, GAUSSIAN, EFFECTS, HEAVY, by="column"),
    "joint gaussian, all noise": Case(Joint, GAUSSIAN, EFFECTS, HEAVY, by="all"),
    "joint softplus, noise by row and column": Case(Joint, SOFTPLUS, by="both"),
    "joint softplus, student": Case(Joint, SOFTPLUS, by="student"),
    "factors, effects": Case(Factors, GAUSSIAN, EFFECTS),
    "factors by component, all noise": Case(Factors, GAUSSIAN, EFFECTS, HEAVY, by="all", factors=COMPONENTS),
    "factors by component, student": Case(Factors, GAUSSIAN, by="student", factors=COMPONENTS),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_short(case: Case) -> None:
    """Beyond the bound, four times the draws decide: chance does not repeat itself, and a bias stands out more."""
    z = z_scores(case, np.random.default_rng(31), draws=2000)
    if np.abs(z).max() >= BOUND:
        z = z_scores(case, np.random.default_rng(33), draws=8000)
    assert np.abs(z).max() < BOUND, z


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_long(case: Case) -> None:
    z = z_scores(case, np.random.default_rng(32), draws=40_000, processes=2)
    assert np.abs(z).max() < BOUND, z


def test_the_false_alarm_rate_is_as_stated() -> None:
    comparisons = sum(direct(case, np.random.default_rng(0), 1).size for case in CASES.values())
    assert comparisons == 761
    assert false_alarm_rate(BOUND, comparisons) == pytest.approx(0.0482, abs=1e-4)
