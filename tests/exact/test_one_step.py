"""Two steps of the default sampler from an exact draw of parameters and data: nothing may change on average.

Parameters come from the prior, data given them, and the sampler moves the parameters given the data.  Replicates are
independent, so errors are plain ones, and functions of components in their places may be compared, which a chain that
seldom exchanges them mixes too slowly for.  Masses differ from place to place, and steps are long, so that a quarter or
more of the trajectories are refused: a mistake in how places, signs or refusals are treated is a change of means.

The bound on |z| is 4.5.  Each of the two runs makes 246 comparisons: false-alarm rate 0.17 %.  Seeds were chosen once;
they are not to be changed to make a test pass.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from manifill.sampling.adaptation import DualAveraging
from manifill.sampling.joint import Joint, JointTuning
from manifill.sampling.lengths import Lengths
from manifill.sampling.masses import Masses
from manifill.sampling.singular import State
from manifill.types import Generator, Matrix, Vector
from tests.exact.geweke import EFFECTS, HEAVY, SHAPE, Case, data, prior_state, statistics
from tests.exact.zscores import false_alarm_rate
from tests.sampling.problems import LIKELIHOODS

BOUND, STEPS, STEP_SIZE = 4.5, 2, 1.6
GAUSSIAN, SOFTPLUS = LIKELIHOODS["gaussian"], LIKELIHOODS["softplus"]
CASES = {f"{name}, effects": Case(Joint, likelihood, EFFECTS, HEAVY) for name, likelihood in LIKELIHOODS.items()}
CASES |= {
    "gaussian": Case(Joint, GAUSSIAN),
    "softplus, noise by column": Case(Joint, SOFTPLUS, EFFECTS, HEAVY, by_column=True),
}


def frozen(case: Case, rng: Generator, lengths: Lengths | None) -> JointTuning:
    """Return a tuning whose masses differ from place to place; without lengths there are trees."""
    tuning = case.given(data(case, rng, prior_state(case, rng))).start(rng)[1]
    (m, n), rest = SHAPE, np.full(tuning.masses.rest.size, 4.0)
    rest[:2] = 2.0, 15.0  # of s
    masses = Masses(3.0 * m * np.array([1.0, 6.0]), 3.0 * n * np.array([2.5, 1.0]), rest)
    step = DualAveraging.start(STEP_SIZE, tuning.step.step_size + 10.0)
    return tuning._replace(step=step, masses=masses, warming=False, lengths=lengths)


def in_places(state: State) -> Vector:
    """Return functions of the components in the order they have."""
    U, s, V = state.U, state.s, state.V
    of_s = [*np.log(s), *np.log(s) ** 2, float(s[0] < s[1])]
    return np.array([*of_s, *np.log(1e-3 + U[0] ** 2), *V.sum(axis=0) ** 2, *(U[0] * s * V[0])])


def changes(case: Case, rng: Generator, replicates: int, lengths: Lengths | None) -> Iterator[tuple[Vector, float]]:
    """Yield what the steps change in each replicate, and their acceptance."""
    tuning = frozen(case, rng, lengths)
    for _ in range(replicates):
        state = prior_state(case, rng)
        y = data(case, rng, state)
        before = np.concatenate([statistics(case, state, y), in_places(state)])
        sampler, accepted = case.given(y), []
        for _ in range(STEPS):
            state, info = sampler.step(rng, state, tuning)
            accepted.append(info.transition.acceptance)
        yield np.concatenate([statistics(case, state, y), in_places(state)]) - before, float(np.mean(accepted))


def z_scores(case: Case, rng: Generator, replicates: int, lengths: Lengths | None) -> Vector:
    """Return mean changes in standard errors."""
    found = list(changes(case, rng, replicates, lengths))
    differences: Matrix = np.array([change for change, _ in found])
    assert np.mean([rate for _, rate in found]) < 0.85, "steps are long"
    return np.asarray(differences.mean(axis=0) / (differences.std(axis=0) / np.sqrt(replicates)))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_short(case: Case) -> None:
    z = z_scores(case, np.random.default_rng(51), 2000, Lengths(2, 5, 1))
    assert np.abs(z).max() < BOUND, z


@pytest.mark.statistical
@pytest.mark.parametrize("lengths", [Lengths(2, 5, 1), None], ids=["trajectories", "trees"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_long(case: Case, lengths: Lengths | None) -> None:
    z = z_scores(case, np.random.default_rng(52), 40_000, lengths)
    assert np.abs(z).max() < BOUND, z


def test_the_false_alarm_rate_is_as_stated() -> None:
    comparisons = sum(next(changes(case, np.random.default_rng(0), 1, None))[0].size for case in CASES.values())
    assert comparisons == 246
    assert false_alarm_rate(BOUND, comparisons) == pytest.approx(0.0017, abs=1e-4)
