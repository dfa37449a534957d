"""Kernels are compiled before the chains start, and it is said which and how many."""

from pathlib import Path
from typing import Any

import pytest

from manifill.sampling.compilation import compile_ahead
from manifill.sampling.plan import Plan
from manifill.sampling.sampler import Kernel
from manifill.sampling.shared_value import InMemory
from manifill.sampling.workers import open_workers

compiled: list[str] = []


class Function:
    """Stands for a function of Numba."""

    def __init__(self, name: str) -> None:
        self.py_func = type(name, (), {})
        self.name = name

    def compile(self, signature: Any) -> None:
        compiled.append(self.name)


class Sampler:
    names: tuple[str, ...] = ("slow", "middle", "quick")

    def kernels(self) -> tuple[Kernel, ...]:
        return tuple(Kernel(Function(name), (1.0,)) for name in self.names)


class Recorder:
    def __init__(self) -> None:
        self.reports: list[Any] = []

    def begin(self, phase: str, total: float | None, unit: str, guess: float, then: float) -> None:
        self.reports.append((phase, total, unit))

    def advance(self, amount: float, doing: str) -> None:
        self.reports.append((amount, doing))

    def note(self, text: str) -> None:
        self.reports.append(text)

    def watch(self, rows: Any) -> None:
        """Do nothing."""


@pytest.fixture
def markers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the files that mark the kernels of a sampler as compiled."""

    def named(contents: list[str]) -> Path:
        return tmp_path / f"{len(contents)} kernels {hash(tuple(contents))}"

    monkeypatch.setattr("manifill.sampling.compilation.cache_marker", named)
    compiled.clear()
    return tmp_path


def compile_all(*, stopped: bool = False) -> list[Any]:
    recorder, plan = Recorder(), InMemory(Plan(Sampler, chains=1, warmup=1))  # type: ignore[arg-type]
    with open_workers(1) as workers:
        compile_ahead(plan, workers, recorder, lambda: stopped, then=1.0)
    return recorder.reports


def test_one_process_compiles_ahead_too_and_reports_each_kernel(markers: Path) -> None:
    """Otherwise the kernels that are used after warm-up would be compiled in the middle of the chain."""
    assert compile_all() == [
        "compiling 3 kernels; this happens once and takes a minute or two",
        ("compiling", 3, "kernels"),
        (0.0, "slow"),
        (1.0, "middle"),
        (1.0, "quick"),
        (1.0, ""),
    ]
    assert compiled == ["slow", "middle", "quick"]
    assert compile_all() == [], "the second time there is nothing to compile"


def test_a_stop_is_noticed_between_kernels(markers: Path) -> None:
    compile_all(stopped=True)
    assert compiled == ["slow"]
    assert not list(markers.iterdir())


def test_another_kernel_of_the_same_signature_is_not_taken_as_compiled(
    markers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which gradient is used depends on the share of observed cells; the other one would be compiled by each chain."""
    compile_all()
    monkeypatch.setattr(Sampler, "names", ("slow", "other", "quick"))
    compile_all()
    assert "other" in compiled
