"""Runs cases one after the other, in processes that may crash without ending the count."""

import faulthandler
import json
import multiprocessing
import os
import resource
import shutil
import signal
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NamedTuple

from tests.fuzz.case import Case, Target

__all__ = ["SCRATCH", "Failure", "Outcome", "case_of", "run_cases", "run_in_processes", "save", "write"]

SCRATCH = "/dev/shm" if os.path.isdir("/dev/shm") else None  # in memory, since runs wait for the disk
SECONDS = 20.0  # for one case, on a machine that does other things too
MEMORY = 2 << 30  # address space that a process may use more than at its start; far less is needed
BATCH = 1000


class Failure(NamedTuple):
    """A case that did not end as it should."""

    number: int
    reason: str


class Outcome(NamedTuple):
    """What came of some cases."""

    counts: Counter[str]
    failures: list[Failure]


class TooSlowError(BaseException):
    """A case takes too long; not an Exception, so that no reader takes it for damage."""


def case_of(target: Target, seed: int, number: int) -> Case:
    """Return the case with this number, which depends on nothing else."""
    return target.make(Random(f"{target.name} {seed} {number}"))


def run_cases(target: Target, seed: int, numbers: range) -> Iterator[tuple[int, str | Failure]]:
    """Run cases in this process; yield what came of each."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=SCRATCH) as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in numbers:
            yield number, _outcome(target, case_of(target, seed, number), number, Path(folder, "case"))


def _outcome(target: Target, case: Case, number: int, folder: Path) -> str | Failure:
    write(case, folder)
    handler = signal.signal(signal.SIGALRM, _too_slow)
    timer = signal.setitimer(signal.ITIMER_REAL, SECONDS)  # pytest may have one of its own
    try:
        return target.check(folder, case)
    except (Exception, TooSlowError):
        return Failure(number, traceback.format_exc())
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)
        shutil.rmtree(folder)


def _too_slow(_: int, __: FrameType | None) -> None:
    raise TooSlowError(f"more than {SECONDS:.0f} s")


def write(case: Case, folder: Path) -> None:
    """Write the files of a case."""
    root = str(folder)  # not as paths, which take longer than the files
    for parent in {os.path.dirname(f"{root}/{name}") for name in (*case.files, *case.folders, *case.links, "any")}:
        os.makedirs(parent, exist_ok=True)
    for name, data in case.files.items():
        with open(f"{root}/{name}", "wb") as file:
            file.write(data)
    for name in case.folders:
        os.mkdir(f"{root}/{name}")
    for name, target in case.links.items():
        os.symlink(target, f"{root}/{name}")


def save(case: Case, folder: Path, failure: Failure) -> None:
    """Write the files of a case that failed, and why it did."""
    write(case, folder)
    (folder / "failure.txt").write_text(f"arguments: {case.arguments}\n{failure.reason}", encoding="utf-8")


def run_in_processes(target: Target, seed: int, cases: int) -> Iterator[Outcome]:
    """Run cases in batches, each in a process of its own; a crash is a failure of the case that was running."""
    context = multiprocessing.get_context("fork")
    case_of(target, seed, 0)  # what a target prepares once is then prepared in all processes
    start = 0
    while start < cases:
        stop = min(start + BATCH, cases)
        with tempfile.NamedTemporaryFile("r", prefix="fuzz-", suffix=".jsonl") as report:
            process = context.Process(target=_report_cases, args=(target, seed, range(start, stop), report.name))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, which only wait here
                process.start()
            process.join()
            lines: list[Any] = [json.loads(line) for line in report]
        counts = Counter(word for word, reason in lines if reason is None)
        failures = [Failure(start + k, reason) for k, (_, reason) in enumerate(lines) if reason is not None]
        start += len(lines)
        if process.exitcode != 0:
            failures.append(Failure(start, f"the process ended with code {process.exitcode}"))
            start += 1
        yield Outcome(counts, failures)


def _report_cases(target: Target, seed: int, numbers: range, report: str) -> None:
    """Write one line per case, at once, so that the lines tell which case crashed."""
    faulthandler.enable()
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with open(report, "w", encoding="utf-8", buffering=1) as file:
        for _, outcome in run_cases(target, seed, numbers):
            word, reason = (outcome, None) if isinstance(outcome, str) else ("", outcome.reason)
            file.write(json.dumps([word, reason]) + "\n")
