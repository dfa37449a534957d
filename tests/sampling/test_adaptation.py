"""Dual averaging on acceptance curves that are known."""

import numpy as np
import pytest

from manifill.sampling.dual_averaging import DualAveraging


def acceptance_of(step_size: float) -> float:
    """Return a curve that falls from 1 to 0 about the step size 0.3."""
    return float(np.exp(-((step_size / 0.3) ** 2)))


def adapted(start: float, target: float, longest: float = 100.0, noise: float = 0.0) -> DualAveraging:
    rng = np.random.default_rng(1)
    tuning = DualAveraging.init(start, longest)
    for _ in range(1000):
        tuning = tuning.update(acceptance_of(tuning.step_size) + noise * rng.standard_normal(), target)
    return tuning.final()


@pytest.mark.parametrize("target", [0.6, 0.8, 0.9])
@pytest.mark.parametrize("start", [1e-3, 0.3, 30.0])
def test_reaches_the_target(start: float, target: float) -> None:
    assert acceptance_of(adapted(start, target).step_size) == pytest.approx(target, abs=0.01)
    assert acceptance_of(adapted(start, target, noise=0.1).step_size) == pytest.approx(target, abs=0.04)


def test_never_exceeds_the_longest_step() -> None:
    tuning = DualAveraging.init(0.01, 0.05)
    for _ in range(200):
        tuning = tuning.update(1.0, 0.8)
        assert tuning.step_size <= 0.05 * (1 + 1e-12)
    assert tuning.final().step_size == pytest.approx(0.05, rel=0.01)


def test_a_divergence_counts_as_a_refusal() -> None:
    start = DualAveraging.init(0.3, 10.0)
    assert start.update(np.nan, 0.8) == start.update(0.0, 0.8)


def test_moves_up_after_success_and_down_after_failure() -> None:
    tuning = DualAveraging.init(0.3, 100.0)
    assert tuning.step_size == pytest.approx(0.3)
    assert tuning.update(1.0, 0.8).step_size > tuning.update(0.8, 0.8).step_size > tuning.update(0.0, 0.8).step_size


def test_update_leaves_the_old_state_alone() -> None:
    tuning = DualAveraging.init(0.3, 100.0)
    kept = tuning._asdict()
    tuning.update(0.5, 0.8)
    assert tuning._asdict() == kept


def test_refined_adaptation_reaches_the_target_on_refusals_alone() -> None:
    """A trajectory is accepted or not; the acceptance at the final step size is the target, on average over chains."""
    found = []
    for rng in np.random.default_rng(2).spawn(40):
        tuning = DualAveraging.init(0.3, 100.0).refined()
        for _ in range(75):
            accepted = rng.random() < acceptance_of(tuning.step_size)
            tuning = tuning.update(float(accepted), 0.8)
        found.append(acceptance_of(tuning.final().step_size))
    assert np.mean(found) == pytest.approx(0.8, abs=0.02)
    assert np.std(found) < 0.06


def test_refined_adaptation_starts_at_the_average() -> None:
    tuning = adapted(0.3, 0.8, longest=0.2, noise=0.1)
    assert tuning.refined().step_size == pytest.approx(tuning.final().step_size)
    for _ in range(200):
        tuning = tuning.update(1.0, 0.8)
    assert tuning.refined().update(1.0, 0.8).step_size <= 0.2 * (1 + 1e-12)
