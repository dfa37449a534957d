"""Time spent on compilation before a fit begins: ``make bench-compilation``.

Every fit runs in a new process, one after the other, with a kernel cache in a temporary folder: the default likelihood
with an empty cache, then every other likelihood with what the fits before it have compiled, then the built-in ones with
a full cache.  Times are from the start of the process until every chain has done one iteration; imports and the start
of the worker processes are included.  The bars are those for two idle cores.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manifill import MatrixCompletion, custom_likelihood
from manifill.base.arrays import Matrix
from manifill.sampling.progress_board import Board

SHAPE, RANK, SHARE, TRIALS, CHAINS = (30, 18), 3, 0.5, 7, 2
FIRST, FURTHER, BUILT_IN = "gaussian", ("softplus", "binomial", "custom"), ("gaussian", "softplus", "binomial")

# Seconds: with an empty cache, for each further likelihood, and with a full cache.
EMPTY_BAR, FURTHER_BAR, FULL_BAR = 30.0, 5.0, 2.0

SECONDS_BETWEEN_READINGS = 0.01


class Times(NamedTuple):
    """Seconds from the start of a process."""

    first_iteration: float  # until every chain has done one
    whole: float  # until the process has ended


def time_fit(command: Sequence[str], cache: Path, chains: int) -> Times:
    """Run a command that fits once; read the progress of its chains from the board in its temporary folder."""
    with tempfile.TemporaryDirectory(prefix="manifill-bench-") as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "TMPDIR": folder}
        begin, first, board = time.perf_counter(), np.nan, None
        process = subprocess.Popen(command, env=environment)
        while process.poll() is None:
            time.sleep(SECONDS_BETWEEN_READINGS)
            board = board or find_board(Path(folder), chains)
            if np.isnan(first) and board is not None and all(board.read(k).iteration >= 1 for k in range(chains)):
                first = time.perf_counter() - begin
        whole = time.perf_counter() - begin
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    if np.isnan(first):
        raise RuntimeError(f"the chains of {' '.join(command)} reported no iteration")
    return Times(first, whole)


def find_board(folder: Path, chains: int) -> Board | None:
    """Return the board of the chains, or None if they have not been started."""
    found = next(folder.glob("*/board"), None)
    return None if found is None else Board(found, chains)


def fit(likelihood: str) -> None:
    """Fit a small table."""
    model = MatrixCompletion(
        rank=RANK,
        likelihood=smooth_laplace() if likelihood == "custom" else likelihood,
        trials=TRIALS if likelihood == "binomial" else None,
        chains=CHAINS,
        warmup=1,
        draws=1,
        jobs=CHAINS,
        progress=False,
        seed=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table(likelihood))


def table(likelihood: str) -> Matrix:
    """Return values that the likelihood accepts, NaN in the missing cells."""
    rng = np.random.default_rng(7)
    y = rng.standard_normal((SHAPE[0], RANK)) @ rng.standard_normal((RANK, SHAPE[1])) + rng.standard_normal(SHAPE)
    if likelihood == "softplus":
        y = np.logaddexp(0.0, y)
    if likelihood == "binomial":
        y = rng.binomial(TRIALS, 1.0 / (1.0 + np.exp(-y))).astype(np.float64)
    y[rng.random(SHAPE) > SHARE] = np.nan
    return y


def smooth_laplace() -> Any:
    """Return a custom likelihood; its functions are compiled in every process."""
    return custom_likelihood(
        "smooth Laplace",
        lambda y, x: -((1.0 + (y - x) ** 2) ** 0.5),
        lambda y, x: (y - x) / (1.0 + (y - x) ** 2) ** 0.5,
    )


def show(label: str, likelihood: str, cache: Path, bar: float) -> None:
    """Time a fit and print a line."""
    times = time_fit([sys.executable, __file__, "--fit", likelihood], cache, CHAINS)
    seconds = f"{times.first_iteration:6.1f}  (<= {bar:2.0f})  {times.whole:6.1f}"
    print(f"  {label:18s} {likelihood:9s} {seconds}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", choices=(FIRST, *FURTHER), help="fit once and print nothing")
    options = parser.parse_args()
    if options.fit is not None:
        fit(options.fit)
        return
    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    print(f"load average {load} on {os.cpu_count()} cores; the bars are for two idle ones")
    print("\nseconds from start to the first iteration (bar), and to the end of the process")
    with tempfile.TemporaryDirectory(prefix="manifill-bench-") as folder:
        cache = Path(folder)
        show("empty cache", FIRST, cache, EMPTY_BAR)
        for likelihood in FURTHER:
            show("further likelihood", likelihood, cache, FURTHER_BAR)
        for likelihood in BUILT_IN:
            show("full cache", likelihood, cache, FULL_BAR)


if __name__ == "__main__":
    main()
