"""Interrupts of the short chains that run before the chains of a fit, in the process of the user."""

import signal
import threading
from typing import Any

import numpy as np
import pytest

from manifill.base import kernel_cache
from manifill.problem import from_array
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.held_out_trials import SHORTEST, Trial, Trials, divided
from tests.sampling.test_rank_search import model_of, table


@pytest.fixture(autouse=True)
def _python_handles_interrupts() -> None:
    """Let Ctrl-C raise an exception also if the tests run in the background, where it is ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def trials() -> Trials:
    parts = divided(np.random.default_rng(0), from_array(table((30, 12), 2, noise=0.2, share=0.8)))
    assert parts is not None
    return Trials(*parts)


def run(trials: Trials) -> Trial:
    return trials.run(np.random.default_rng(0), model_of(trials.train, 2))


class Interrupted:
    """Steps of a sampler, one of which is interrupted before its kernels are called."""

    def __init__(self, number: int, patch: pytest.MonkeyPatch) -> None:
        self.begun, self.ended = 0, 0
        step = Factors.step

        def interrupted(*arguments: Any) -> Any:
            self.begun += 1
            if self.begun == number:
                signal.raise_signal(signal.SIGINT)
            found = step(*arguments)
            self.ended += 1
            return found

        patch.setattr(Factors, "step", interrupted)


@pytest.mark.parametrize("number", [1, SHORTEST + 3, 2 * SHORTEST])
def test_an_interrupt_ends_the_trial_after_its_sweep(
    number: int, trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Interrupted(number, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        run(trials)
    assert (steps.begun, steps.ended) == (number, number)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_ends_the_trial_of_leading_components_after_its_sweep(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, model = np.random.default_rng(0), model_of(trials.train, 2)
    state = trials.run(rng, model).state
    steps = Interrupted(5, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        trials.run_by_leading(rng, model, state)
    assert (steps.begun, steps.ended) == (5, 5)


def test_an_interrupt_ends_compilation_after_the_kernel(trials: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def compiling(*_: Any) -> Any:
        for now in (True, False):
            for listener in kernel_cache._listeners:
                listener(now)
            seen.append(now)
            signal.raise_signal(signal.SIGINT)
        raise AssertionError("the interrupt was not raised")

    monkeypatch.setattr(Factors, "start", compiling)
    with pytest.raises(KeyboardInterrupt):
        run(trials)
    assert seen == [True]
    assert not kernel_cache._listeners


def test_trials_in_another_thread_are_the_same(trials: Trials) -> None:
    found: list[Trial] = []
    thread = threading.Thread(target=lambda: found.append(run(trials)))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0].log_density, run(trials).log_density)
