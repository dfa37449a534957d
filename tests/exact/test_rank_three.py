"""The whole sampler at rank 3 and through the sparse pass: one-step test and Geweke's joint test.

Quadrature is out of reach at rank 3.  A table takes the sparse pass if it has few cells for its size, so there are 11
cells in 26×19: four in one row, one each in the last row and the last column, most rows and columns without any.
Singular values have a mean of 12, cells of X and noise are of about 1, row effects are larger than column effects, and
masses differ by component.

The one-step test takes weak priors of the noise, so that the data determine it.  Chains of Geweke's test would be stuck
for long where the noise is small (see ``simulated``), so there the priors are tight.

The bound on |z| is 4.5.  Each run of the one-step test makes 276 comparisons, false-alarm rate 0.19 %; each run of
Geweke's test makes 356, false-alarm rate 0.24 %.  Seeds were chosen once; they are not to be changed to make a test
pass.
"""

import numpy as np
import pytest

from manifill.base.priors import ComponentGamma, Gamma, ScaledF
from manifill.problem.joint_density import JointDensity
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.joint_sampler import Joint
from manifill.sampling.paper_gibbs import Gibbs
from manifill.sampling.trajectory_lengths import Lengths
from manifill.unknowns import EffectsPrior, Layout
from tests.exact import geweke, one_step
from tests.exact.one_step import Kernel, changes
from tests.exact.simulated import HEAVY, NOISE, Case, Table, numbered_cells
from tests.exact.zscores import false_alarm_rate
from tests.sampling.problems import LIKELIHOODS

BOUND = 4.5
TABLE = Table(
    shape=(26, 19),
    rank=3,
    rows=(0, 0, 0, 0, 1, 1, 1, 2, 2, 5, 25),
    cols=(0, 1, 2, 18, 0, 1, 2, 0, 1, 18, 0),
    shown=((0, 0), (2, 1), (5, 18), (25, 0), (2, 2), (7, 9)),
    rate=Gamma(12.0, 144.0),
)
KERNEL = Kernel(steps=2, step_size=0.8, left=(40.0, 120.0, 75.0), right=(90.0, 28.0, 60.0), s=(0.01, 0.06, 0.03))
EFFECTS = EffectsPrior(0.5, 1.0, Gamma(3.0, 3.0), Gamma(6.0, 24.0))
WEAK = ScaledF(shape=3.0, tail=8.0, scale=2.0, floor=0.2)
GAUSSIAN = LIKELIHOODS["gaussian"]
CASES = {
    "effects": Case(Joint, GAUSSIAN, EFFECTS, WEAK, table=TABLE),
    "plain": Case(Joint, GAUSSIAN, noise=Gamma(3.0, 3.0), table=TABLE),
    "effects, all noise": Case(Joint, GAUSSIAN, EFFECTS, WEAK, by="all", table=TABLE),
    "plain, noise by column": Case(Joint, GAUSSIAN, noise=Gamma(3.0, 3.0), by="column", table=TABLE),
}
OF_GEWEKE = {name: case._replace(noise=NOISE if case.effects is None else HEAVY) for name, case in CASES.items()}
OF_GEWEKE |= {
    "gibbs, effects": Case(Gibbs, GAUSSIAN, EFFECTS, HEAVY, table=TABLE),
    "factors, effects": Case(Factors, GAUSSIAN, EFFECTS, HEAVY, table=TABLE),
    "factors by component, all noise": Case(
        Factors, GAUSSIAN, EFFECTS, HEAVY, by="all", table=TABLE, factors=ComponentGamma(6.0, 12.0)
    ),
}
for_each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
for_each_of_geweke = pytest.mark.parametrize("case", OF_GEWEKE.values(), ids=OF_GEWEKE.keys())


@for_each_case
def test_the_pass_is_sparse(case: Case) -> None:
    """The density that the sampler uses, not the rule alone."""
    layout = Layout.whole(*TABLE.shape, TABLE.rank, case.effects is not None, 0)
    density = JointDensity.of(case.model, numbered_cells(TABLE).by_row, layout)
    assert density.layout.rank == 3
    assert density.scratch.block.shape[1] == 0


@for_each_case
def test_one_step_short(case: Case) -> None:
    z = one_step.z_scores(case, KERNEL, np.random.default_rng(61), 1000, Lengths(2, 5, 1))
    assert np.abs(z).max() < BOUND, z


@pytest.mark.statistical
@pytest.mark.parametrize("lengths", [Lengths(2, 5, 1), None], ids=["trajectories", "trees"])
@for_each_case
def test_one_step_long(case: Case, lengths: Lengths | None) -> None:
    """40,000 replicates: a bias of 0.03 standard deviations is seen."""
    z = one_step.z_scores(case, KERNEL, np.random.default_rng(62), 40_000, lengths, processes=2)
    assert np.abs(z).max() < BOUND, z


@for_each_of_geweke
def test_geweke_short(case: Case) -> None:
    """Beyond the bound, four times the draws decide, as in ``test_geweke``: scales of effects mix slowly here."""
    z = geweke.z_scores(case, np.random.default_rng(63), draws=1000)
    if np.abs(z).max() >= BOUND:
        z = geweke.z_scores(case, np.random.default_rng(65), draws=4000)
    assert np.abs(z).max() < BOUND, z


@pytest.mark.statistical
@for_each_of_geweke
def test_geweke_long(case: Case) -> None:
    z = geweke.z_scores(case, np.random.default_rng(64), draws=40_000, processes=2)
    assert np.abs(z).max() < BOUND, z


def test_the_false_alarm_rates_are_as_stated() -> None:
    rng = np.random.default_rng(0)
    of_one_step = sum(next(changes(case, KERNEL, rng, 1, None))[0].size for case in CASES.values())
    of_geweke = sum(geweke.direct(case, rng, 1).size for case in OF_GEWEKE.values())
    assert (of_one_step, of_geweke) == (276, 356)
    assert false_alarm_rate(BOUND, of_one_step) == pytest.approx(0.0019, abs=1e-4)
    assert false_alarm_rate(BOUND, of_geweke) == pytest.approx(0.0024, abs=1e-4)
