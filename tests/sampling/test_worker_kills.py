"""Workers are killed at any moment, also when a task was just submitted, without a word from the threads of joblib."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from joblib.externals.loky.process_executor import ProcessPoolExecutor, _ExecutorManagerThread

from manifill.sampling import workers as workers_module
from manifill.sampling.workers import Death, open_workers

SECONDS = 0.3  # that the thread of an executor is late


@pytest.fixture
def errors(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the errors of threads, which Python would print."""
    found: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", found.append)
    return found


@pytest.fixture
def managers(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """Let the threads of executors be late when they are woken up, and return those that were."""
    found, wait = [], _ExecutorManagerThread.wait_result_broken_or_wakeup

    def late(self: threading.Thread) -> Any:
        woken = wait(self)
        found.append(self)
        time.sleep(SECONDS)
        return woken

    monkeypatch.setattr(_ExecutorManagerThread, "wait_result_broken_or_wakeup", late)
    return found


def before_submitting(number: int, do: Callable[[], None], patch: pytest.MonkeyPatch) -> threading.Event:
    """Call a function before a task is submitted, and return an event that is set afterwards."""
    submit, submitted, count = ProcessPoolExecutor.submit, threading.Event(), [0]

    def submitting(self: ProcessPoolExecutor, *arguments: Any) -> Any:
        count[0] += 1
        if count[0] != number:
            return submit(self, *arguments)
        do()
        found = submit(self, *arguments)
        submitted.set()
        return found

    patch.setattr(ProcessPoolExecutor, "submit", submitting)
    return submitted


def check_ended(managers: list[threading.Thread], errors: list[Any]) -> None:
    for manager in managers:
        manager.join(30.0)
        assert not manager.is_alive()
    assert managers
    assert not errors


def test_a_task_that_was_just_submitted_is_killed(
    managers: list[threading.Thread], errors: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker has done another task, and its executor has not taken this one yet."""
    monkeypatch.setattr(workers_module, "_idle", [])
    submitted = before_submitting(3, lambda: time.sleep(2.0 * SECONDS), monkeypatch)
    with open_workers(2) as workers:
        results = workers.results(time.sleep, [(600.0,), (0.0,), (600.0,)], lambda *_: None)
        assert next(results) == (1, None)
        assert submitted.wait(60.0)
        results.close()  # type: ignore[attr-defined]
    check_ended(managers, errors)


def test_a_task_that_is_submitted_after_the_kill_is_killed(
    managers: list[threading.Thread], errors: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_module, "_idle", [])
    with open_workers(2) as workers:
        before_submitting(2, workers.kill, monkeypatch)
        results = workers.results(time.sleep, [(600.0,), (600.0,)], lambda *_: None)
        assert sorted(results) == [(0, Death(())), (1, Death(()))]
    check_ended(managers, errors)


def test_nothing_is_started_after_the_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    submitted = before_submitting(1, lambda: None, monkeypatch)
    with open_workers(2) as workers:
        workers.kill()
        assert list(workers.results(time.sleep, [(600.0,)], lambda *_: None)) == [(0, Death(()))]
    assert not submitted.is_set()
