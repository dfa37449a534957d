"""Compare the speed of two checkouts: ``make same-speed OLD=../other-checkout``.

Both fit the same tables through the public interface, in alternating processes.  Trajectories need not be the same, so
CPU times are per gradient and per draw, after warm-up; ratios are new : old, medians over the repetitions.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

SHAPE, RANK, TRIALS = (100, 60), 10, 10

# What is fitted: settings of MatrixCompletion, the share of observed cells, warm-up and draws.
FITS: dict[str, tuple[dict[str, Any], float, int, int]] = {
    "gaussian 40 %, effects": ({}, 0.4, 200, 300),
    "gaussian 10 %, effects": ({}, 0.1, 200, 300),
    "gaussian 40 %": ({"effects": None}, 0.4, 200, 300),
    "softplus 40 %": ({"effects": None, "likelihood": "softplus"}, 0.4, 200, 200),
    "binomial 40 %": ({"effects": None, "likelihood": "binomial", "trials": TRIALS}, 0.4, 200, 200),
    "gibbs, gaussian 40 %": ({"effects": None, "sampler": "gibbs"}, 0.4, 60, 60),
    "factors, gaussian 40 %": ({"effects": None, "sampler": "factors"}, 0.4, 100, 1000),
}
REAL = {"mice": 40, "movielens": 25}  # iterations of warm-up, and draws


def table(likelihood: str, share: float) -> np.ndarray[Any, Any]:
    """Return a table of rank 10 with noise, NaN in the missing cells."""
    rng = np.random.default_rng(1)
    Y = rng.standard_normal((SHAPE[0], RANK)) @ rng.standard_normal((RANK, SHAPE[1]))
    if likelihood == "binomial":
        Y = rng.binomial(TRIALS, 1.0 / (1.0 + np.exp(-Y))).astype(np.float64)
    else:
        Y = (np.logaddexp(0.0, Y) if likelihood == "softplus" else Y) + 0.5 * rng.standard_normal(SHAPE)
    Y[rng.random(SHAPE) > share] = np.nan
    return Y


def measured() -> dict[str, tuple[float, float]]:
    """Return microseconds per gradient (of ``factors``: per draw) and per draw of every fit."""
    found = {}
    for name, (settings, share, warmup, draws) in FITS.items():
        found[name] = timed(table(settings.get("likelihood", "gaussian"), share), warmup, draws, **settings)
    if os.environ.get("MANIFILL_DATA"):
        from manifill import datasets

        for name, loaded in (("mice", datasets.load_mice_protein()), ("movielens", datasets.load_movielens())):
            found[name] = timed(loaded.observations, REAL[name], REAL[name])
    return found


def timed(data: Any, warmup: int, draws: int, **settings: Any) -> tuple[float, float]:
    """Fit one chain, and return the times."""
    from manifill import MatrixCompletion

    fixed: dict[str, Any] = {"sampler": "joint", "rank": RANK, "chains": 1, "seed": 1, "jobs": 1, "progress": False}
    model = MatrixCompletion(warmup=warmup, draws=draws, **(fixed | settings))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        statistics = model.fit(data).posterior_.statistics
    microseconds = 1e6 * float(np.sum(statistics["process_time_diff"]))
    steps = sum(float(np.sum(array)) for name, array in statistics.items() if name.startswith("n_steps"))
    return microseconds / (steps or draws), microseconds / draws


def run(checkout: Path) -> dict[str, tuple[float, float]]:
    """Measure a checkout in a process that imports its package."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, __file__, "--measure"]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return {name: (times[0], times[1]) for name, times in json.loads(done.stdout).items()}


def alternating(old: Path, new: Path, repetitions: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the times of both checkouts, which take turns at being first."""
    for number in range(repetitions):
        print(f"{number + 1} of {repetitions}", file=sys.stderr, flush=True)
        both = {checkout: run(checkout) for checkout in ((old, new) if number % 2 else (new, old))}
        yield both[old], both[new]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", nargs="?", type=Path, help="a checkout")
    parser.add_argument("new", nargs="?", type=Path, default=Path(__file__).parents[1], help="another [default: this]")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--measure", action="store_true", help="measure the package that is imported")
    options = parser.parse_args()
    if options.measure:
        json.dump(measured(), sys.stdout)
        return
    if options.old is None:
        parser.error("give a checkout to compare with")
    old, new = options.old.resolve(), options.new.resolve()
    for checkout in (old, new):  # compiles
        run(checkout)
    pairs = list(alternating(old, new, options.repetitions))
    print("CPU time, medians         old us/gradient  us/draw     new : old per gradient   per draw")
    for name in pairs[0][0]:
        before, after = (np.array([pair[k][name] for pair in pairs]) for k in (0, 1))
        ratio, times = np.median(after / before, axis=0), np.median(before, axis=0)
        print(f"{name:26s} {times[0]:14.1f} {times[1]:8.0f}   {ratio[0]:22.2f}  {ratio[1]:9.2f}")


if __name__ == "__main__":
    main()
