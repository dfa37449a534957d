"""Accuracy of completions with default settings: ``make bench-accuracy``.

For held-out cells of real data (set MANIFILL_DATA to their folder) and of the paper's first case: the error, the
coverage of 90 % intervals, and the time and memory of the fit.
"""

import argparse
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from problems import has_real_data, mice, movielens, synthetic

from manifill import ConvergenceWarning, MatrixCompletion
from manifill.problem import Observations

SPLIT_SEED, SEED, PAIRS = 0, 0, 100_000


def fit_and_score(name: str, train: Observations, held_out: Observations, **settings: Any) -> None:
    """Fit, with the draws on disk, and print the error on held-out cells."""
    with tempfile.TemporaryDirectory() as folder:
        _fit_and_score(name, train, held_out, MatrixCompletion(seed=SEED, path=Path(folder) / "run", **settings))


def _fit_and_score(name: str, train: Observations, held_out: Observations, model: MatrixCompletion) -> None:
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the verdict is printed
        model.fit(*train.triples(), shape=train.shape)
    peak = peak_megabytes()
    rows, cols, values = held_out.triples()
    prediction = model.predict(rows, cols, interval=0.9)
    error = prediction.mean - values
    covered = float(np.mean((prediction.lower <= values) & (values <= prediction.upper)))
    print(
        f"{name:36s} RMSE {np.sqrt(np.mean(error**2)):.4f}  median |error| {np.median(np.abs(error)):.2g}  "
        f"90 % intervals cover {covered:.1%}  {time.perf_counter() - begin:.0f} s"
    )
    print(f"{'':36s} {model.diagnostics_.verdict}")
    print(
        f"{'':36s} peak resident memory of a process {peak:.0f} MB; "
        f"{PAIRS:,} cells predicted in {seconds_to_predict(model, train.shape):.1f} s",
        flush=True,
    )


def peak_megabytes() -> float:
    """Return the peak resident memory of this process or of a worker; workers stay alive for a while after the fit."""
    workers = Path("/proc/self/task").glob("*/children")
    processes = ["self", *(pid for file in workers for pid in file.read_text().split())]
    lines = (line for pid in processes for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return max(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024.0


def seconds_to_predict(model: MatrixCompletion, shape: tuple[int, int]) -> float:
    """Return the time to predict many cells with intervals."""
    rng = np.random.default_rng(SEED)
    begin = time.perf_counter()
    model.predict(rng.integers(shape[0], size=PAIRS), rng.integers(shape[1], size=PAIRS), interval=0.9)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="", help="only data whose names contain this")
    parser.add_argument("--chains", type=int, default=4)
    options = parser.parse_args()

    def wanted(name: str) -> bool:
        return options.rows in name

    for noise in (0.0, 1.0):
        name = f"case 1, 40 %, noise {noise:g}, rank 10"
        if wanted(name):
            fit_and_score(name, *synthetic(1, 0.4, noise, SPLIT_SEED), rank=10, chains=options.chains)
    if not has_real_data():
        print("real data left out: MANIFILL_DATA is not set")
        return
    for share in (0.4, 0.1):
        name = f"mice, {share:.0%}, rank 20"
        if wanted(name):
            split = mice().split_cells(np.random.default_rng(SPLIT_SEED), share)
            fit_and_score(name, *split, rank=20, chains=options.chains)
    if wanted("MovieLens, 80 %, rank 20"):
        split = movielens().split(np.random.default_rng(SPLIT_SEED), 0.2)
        fit_and_score("MovieLens, 80 %, rank 20", *split, rank=20, chains=options.chains)


if __name__ == "__main__":
    main()
