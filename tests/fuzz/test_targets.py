"""A slice of every target; ``make fuzz`` runs many more cases."""

import os
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import trials
from tests.fuzz.case import Case, Target
from tests.fuzz.targets import TARGETS
from tests.fuzz.trials import Failure, case_of, run_cases, run_in_processes, save

CASES = {"readers": 250, "pairs": 250, "runs": 200, "commands": 100}


@pytest.mark.parametrize("name", TARGETS)
def test_only_documented_errors_come_out(name: str) -> None:
    for number, outcome in run_cases(TARGETS[name], 0, range(CASES[name])):
        assert isinstance(outcome, str), f"case {number} of seed 0\n{outcome.reason}"


@pytest.mark.parametrize("name", TARGETS)
def test_a_case_depends_on_its_seed_and_number_only(name: str) -> None:
    target = TARGETS[name]
    forward = [str(case_of(target, 5, number)) for number in range(300)]
    backward = [str(case_of(target, 5, number)) for number in reversed(range(300))]
    assert forward == backward[::-1]
    assert len({*forward, str(case_of(target, 6, 0))}) > 250


def _check(_: Path, case: Case) -> str:
    """Fail in three ways, by the number in the case."""
    if case.files["number"] == b"3":
        raise TypeError("three")
    if case.files["number"] == b"5":
        os.abort()
    if case.files["number"] == b"7":
        while True:
            pass
    return "read"


def _make(random: Random) -> Case:
    return Case({"number": str(random.randrange(9)).encode()}, {})


def test_errors_crashes_and_endless_loops_are_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "SECONDS", 0.1)
    target = Target("example", _make, _check)
    numbers = [case_of(target, 0, k).files["number"] for k in range(40)]
    outcomes = list(run_in_processes(target, 0, 40))
    failures = [failure for outcome in outcomes for failure in outcome.failures]
    expected = [k for k, number in enumerate(numbers) if number in (b"3", b"5", b"7")]
    assert [failure.number for failure in failures] == expected
    for failure in failures:
        reason = {b"3": "TypeError: three", b"5": "ended with code -6", b"7": "more than 0 s"}[numbers[failure.number]]
        assert reason in failure.reason
    assert sum(outcome.counts["read"] for outcome in outcomes) == 40 - len(expected)


def test_failures_are_saved(tmp_path: Path) -> None:
    save(Case({"a/b": b"x"}, {"k": 1}, ("c/d",), {"a/e": "b"}), tmp_path / "case", Failure(3, "because"))
    assert (tmp_path / "case" / "a" / "b").read_bytes() == b"x"
    assert (tmp_path / "case" / "c" / "d").is_dir()
    assert (tmp_path / "case" / "a" / "e").readlink() == Path("b")
    assert (tmp_path / "case" / "failure.txt").read_text() == "arguments: {'k': 1}\nbecause"
