"""What the default sampler learns in warm-up, with nothing hidden between two steps."""

import pickle

import numpy as np
import pytest

from manifill.likelihoods import Gaussian, Likelihood
from manifill.problem import Observations
from manifill.sampling.joint_sampler import Joint, JointTuning
from manifill.sampling.trajectory_lengths import SHORT_STEPS
from tests.sampling.problems import LIKELIHOODS, model_for, run, some_observations, warmed


@pytest.mark.parametrize("target", [0.6, 0.9])
@pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS.keys())
def test_warm_up_holds_the_target_acceptance(likelihood: Likelihood, target: float) -> None:
    """While the step size still learns, in trees after the last window, and then in trajectories of learned lengths."""
    sampler = Joint(model_for(likelihood), some_observations(likelihood), target_acceptance=target, warmup=400)
    rng, state, tuning = warmed(sampler, 2, 280)
    assert tuning.lengths is not None
    acceptances = []
    for _ in range(600):
        state, info = sampler.step(rng, state, tuning)
        tuning = sampler.adapt(tuning, info)
        acceptances.append(info.transition.acceptance)
    assert np.mean(acceptances[200:]) == pytest.approx(target, abs=0.04)
    assert sampler.freeze(tuning).step.step_size == pytest.approx(np.exp(tuning.step.log_average))


def test_nothing_is_hidden_between_two_steps() -> None:
    """A state and a tuning that have been saved go on in another process as they would have here."""
    model, observations = model_for(Gaussian(), effects=True), some_observations(Gaussian())
    sampler = Joint(model, observations, warmup=50)
    saved, ends = pickle.dumps(warmed(sampler, 6, 30)), []
    for kernel in (sampler, Joint(model, observations, warmup=50)):
        rng, state, tuning = pickle.loads(saved)
        for _ in range(10):  # over the end of the trees
            state, info = kernel.step(rng, state, tuning)
            tuning = kernel.adapt(tuning, info)
        ends.append(kernel.step(rng, state, kernel.freeze(tuning))[0])
    ours, theirs = (end.unknowns[:3] for end in ends)
    assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))


def test_the_longest_step_follows_the_new_masses() -> None:
    """Tuning is a function of tuning and info: another sampler, which has made no step, learns the same."""
    model, observations = model_for(Gaussian()), some_observations(Gaussian())
    sampler, other = (Joint(model, observations, warmup=100) for _ in range(2))
    rng, state, tuning = warmed(sampler, 13, 14)
    _, info = sampler.step(rng, state, tuning)
    ours, theirs = sampler.adapt(tuning, info), other.adapt(tuning, info)
    assert not np.array_equal(ours.masses.left, tuning.masses.left), "a window has ended"
    assert ours.step == theirs.step


def test_columns_without_cells_do_not_make_trajectories_longer() -> None:
    """They are slow, with nothing but their prior; with equal weights trajectories were ten times longer for them."""
    rng, (m, n) = np.random.default_rng(0), (30, 12)
    rows, cols = np.nonzero(np.ones((m, n)))
    x = (rng.standard_normal((m, 2)) @ rng.standard_normal((2, n)))[rows, cols]
    values, times = x + 0.1 * rng.standard_normal(x.size), []
    for width in (n, 6 * n):
        sampler = Joint(model_for(Gaussian()), Observations.from_triples(rows, cols, values, (m, width)), warmup=200)
        tuning = sampler.freeze(warmed(sampler, 0, 200)[2])
        assert tuning.lengths is not None
        times.append(tuning.lengths.longest * tuning.step.step_size)
    assert times[1] < 1.5 * times[0]


def test_masses_change_at_the_ends_of_windows_only() -> None:
    sampler = Joint(model_for(Gaussian()), some_observations(Gaussian()), warmup=100)
    rng, state, tuning = warmed(sampler, 7, 0)
    changes = []
    for iteration in range(1, 101):
        state, info = sampler.step(rng, state, tuning)
        before, tuning = tuning, sampler.adapt(tuning, info)
        if not np.array_equal(before.masses.left, tuning.masses.left):
            changes.append(iteration)
    assert changes == [6, 15, 30, 50]
    frozen = sampler.freeze(tuning)
    assert frozen.masses is tuning.masses
    assert sampler.step(rng, state, frozen)[1].squares is None, "after warm-up no gradient is taken for nothing"


@pytest.mark.parametrize("warmup", [None, 0, 1, 10])
def test_any_length_of_warm_up_will_do(warmup: int | None) -> None:
    model, observations = model_for(Gaussian()), some_observations(Gaussian())
    sampler = Joint(model, observations) if warmup is None else Joint(model, observations, warmup=warmup)
    assert all(np.isfinite(draw["s"]).all() for draw in run(sampler, 8, 30 if warmup is None else warmup, 5))


def test_statistics_count_gradients_and_max_depth_is_passed_on() -> None:
    sampler = Joint(model_for(Gaussian()), some_observations(Gaussian()), max_depth=2)
    rng, state, tuning = warmed(sampler, 11, 0)
    for _ in range(20):
        state, info = sampler.step(rng, state, tuning)
        statistics = sampler.statistics(state, tuning, info)
        assert statistics["n_steps"] == 2 * info.transition.steps <= 6
        assert statistics["step_size"] == tuning.step.step_size


def test_lengths_after_warm_up_are_those_of_the_trees() -> None:
    """Trees of the last window only; four to ten tenths of their mean time, and the short trajectories."""
    sampler = Joint(model_for(Gaussian()), some_observations(Gaussian()), warmup=100)
    rng, state, tuning = warmed(sampler, 12, 50)
    trees = []
    for _ in range(20):
        assert tuning.lengths is None
        state, info = sampler.step(rng, state, tuning)
        trees.append(info.transition.steps * tuning.step.step_size)
        tuning = sampler.adapt(tuning, info)
    for _ in range(30):
        check_time(tuning, float(np.mean(trees)))
        state, info = sampler.step(rng, state, tuning)
        tuning = sampler.adapt(tuning, info)
    tuning = sampler.freeze(tuning)
    check_time(tuning, float(np.mean(trees)))
    assert tuning.trees.number == 20
    assert tuning.lengths is not None
    lengths = []
    for _ in range(200):
        state, info = sampler.step(rng, state, tuning)
        lengths.append(info.transition.steps - SHORT_STEPS * tuning.lengths.short)
        assert sampler.statistics(state, tuning, info)["n_steps"] == 2 * info.transition.steps
    steps = np.mean(trees) / tuning.step.step_size
    assert set(lengths) == set(range(max(1, round(0.4 * steps)), max(1, round(steps)) + 1))


def check_time(tuning: JointTuning, time: float) -> None:
    """Check that the longest trajectory takes this time, whatever the present step size is, up to half a step."""
    assert tuning.lengths is not None
    assert abs(tuning.lengths.longest - max(1.0, time / tuning.step.step_size)) <= 0.5 + 1e-9


def test_trees_cut_at_the_largest_depth_are_told() -> None:
    sampler = Joint(model_for(Gaussian()), some_observations(Gaussian()), warmup=20, max_depth=1)
    rng, state, tuning = warmed(sampler, 3, 12)
    _, info = sampler.step(rng, state, tuning)
    assert sampler.statistics(state, tuning, info)["reached_max_depth"] == 1.0
    tuning = sampler.freeze(tuning)
    _, info = sampler.step(rng, state, tuning)
    assert sampler.statistics(state, tuning, info)["reached_max_depth"] == 0.0, "trajectories are no trees"
