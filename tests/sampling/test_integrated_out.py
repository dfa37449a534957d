"""What the default sampler integrates out: a step does not depend on it, and draws it anew at its very end.

Given the same random numbers, a state with other values of the rate λ, of the effects' precisions and, if all cells
share the noise, of the noise precision must lead to the same state.  If a step uses one of them, for the length of a
trajectory, a mass or a draw of levels, it leaves another distribution invariant than the posterior.  So does a draw of
them that comes before one of the moves for which they are integrated out.
"""

import numpy as np
import pytest

from manifill.base.arrays import Generator, Vector
from manifill.problem.joint_density import JointDensity
from manifill.sampling.joint_sampler import Joint, Parts
from manifill.sampling.state import State
from manifill.sampling.trajectory_lengths import Lengths
from manifill.unknowns import view
from tests.exact.prior import completed, sigmas
from tests.sampling.problems import LIKELIHOODS, model_for, some_observations

CASES = [("gaussian", "shared"), ("gaussian", "both"), ("gaussian", "all"), ("binomial", "shared")]


def disturbed(state: State, by: str) -> State:
    """Return the state with other precisions and another rate."""
    effects = state.unknowns.effects
    effects = effects._replace(
        row_precision=7.0 * effects.row_precision, column_precision=0.1 * effects.column_precision
    )
    # The mixing variables of Student's tails are drawn given the precision, which then matters.
    noise = state.noise if by == "all" else state.noise._replace(precision=5.0 * state.noise.precision)
    return state._replace(unknowns=state.unknowns._replace(effects=effects), noise=noise, rate=3.0 * state.rate)


def flat(state: State) -> Vector:
    (U, s, V, effects, _), noise = state.unknowns, state.noise
    of_effects = [effects.row_precision, effects.column_precision]
    numbers = np.array([*of_effects, noise.precision, noise.rate, noise.row_shape, state.rate, state.log_density])
    unknowns = [U.ravel(), V.ravel(), s, [effects.mean], effects.row, effects.column]
    return np.concatenate([*unknowns, noise.row, noise.column, numbers])


@pytest.mark.parametrize("lengths", [Lengths(2, 5, 1), None], ids=["trajectories", "trees"])
@pytest.mark.parametrize(("name", "by"), CASES)
def test_a_step_does_not_depend_on_what_is_integrated_out(name: str, by: str, lengths: Lengths | None) -> None:
    likelihood = LIKELIHOODS[name]
    model = model_for(likelihood, rank=3, effects=True, by=by)
    sampler = Joint(model, some_observations(likelihood))
    state, tuning = sampler.start(np.random.default_rng(1))
    tuning = tuning._replace(warming=False, lengths=lengths)
    for seed in range(10):
        other, _ = sampler.step(np.random.default_rng(seed), disturbed(state, by), tuning)
        state, _ = sampler.step(np.random.default_rng(seed), state, tuning)
        np.testing.assert_array_equal(flat(other), flat(state))


def enlarge_s(rng: Generator, density: JointDensity, position: Vector, floor: float) -> None:
    """Move very far, in place."""
    view(density.layout, position).s[:] *= 1e3


@pytest.mark.parametrize("by", ["shared", "both", "all"])
def test_noise_and_rate_are_those_of_the_final_point(by: str) -> None:
    """A last move that enlarges s by 1000 leaves large residuals, so the noise is large and the rate small."""
    model = model_for(LIKELIHOODS["gaussian"], rank=3, effects=True, by=by)
    observations = some_observations(LIKELIHOODS["gaussian"])
    sampler = Joint(model, observations, parts=Parts(moves=(*Parts().moves, enlarge_s)))
    state, tuning = sampler.start(np.random.default_rng(1))
    state, _ = sampler.step(np.random.default_rng(2), state, tuning)
    rows, cols, y = observations.triples()
    residual = y - completed(state)[rows, cols]
    assert 0.2 < np.mean((residual / sigmas(state, rows, cols)) ** 2) < 5.0
    assert 0.05 < state.rate * state.unknowns.s.mean() < 5.0
