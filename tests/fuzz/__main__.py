"""Fuzz a part of the package for long.

    python -m tests.fuzz --target readers --cases 200000 --seed 1 [--save folder]

Prints the number of cases and of seconds, and every failure; exit code 1 if there is one.  A case depends on the seed
and on its number only, so ``--only NUMBER`` runs one again.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.targets import TARGETS
from tests.fuzz.trials import Failure, case_of, run_cases, run_in_processes, save


def main() -> int:
    """Run the cases that the arguments name and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--target", choices=[*TARGETS, "all"], default="all")
    parser.add_argument("--cases", type=int, default=10_000, help="per target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="run the case with this number, and no other")
    parser.add_argument("--save", type=Path, default=Path("fuzz-failures"), help="folder for inputs that fail")
    chosen = parser.parse_args()
    names = list(TARGETS) if chosen.target == "all" else [chosen.target]
    if chosen.only is not None:
        return _run_one(names[0], chosen.seed, chosen.only)
    return int(sum(_run(name, chosen.cases, chosen.seed, chosen.save) for name in names) > 0)


def _run(name: str, cases: int, seed: int, folder: Path) -> int:
    """Run the cases of a target, print what came of them, and return the number of failures."""
    target, start = TARGETS[name], time.monotonic()
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    for outcome in run_in_processes(target, seed, cases):
        counts += outcome.counts
        failures += outcome.failures
        for failure in outcome.failures:
            place = folder / f"{name}-{seed}-{failure.number}"
            save(case_of(target, seed, failure.number), place, failure)
            print(f"{place}: {failure.reason.strip().splitlines()[-1]}", flush=True)
        words = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
        done, seconds = counts.total() + len(failures), time.monotonic() - start
        print(f"{name}, seed {seed}: {done} cases in {seconds:.0f} s ({words}), {len(failures)} failures", flush=True)
    return len(failures)


def _run_one(name: str, seed: int, number: int) -> int:
    ((_, outcome),) = run_cases(TARGETS[name], seed, range(number, number + 1))
    print(outcome if isinstance(outcome, str) else outcome.reason)
    return int(isinstance(outcome, Failure))


if __name__ == "__main__":
    sys.exit(main())
