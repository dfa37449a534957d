"""How long chains take to start on a large table: ``make bench-start``, or ``python bench/start.py CELLS``.

The table is simulated, with popular rows and columns.  One thread; kernels are compiled before.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from manifill import ConvergenceWarning, MatrixCompletion
from manifill.base.arrays import Generator, IntVector
from manifill.estimators.arguments import build_model
from manifill.likelihoods import Gaussian
from manifill.problem import Observations
from manifill.sampling.factor_gibbs import Factors

SHARE_OF_ROWS, SHARE_OF_COLUMNS = 1 / 100, 1 / 1000  # of the number of cells
RANK, TRUE_RANK, NOISE_SD = 16, 10, 1.0
SWEEPS = 3

# Arguments of the model of sweeps by themselves.
MODEL = dict.fromkeys(("sigma", "noise_prior", "lambda_", "lambda_prior")) | {"noise": "both", "tails": "normal"}


def popular(rng: Generator, size: int, count: int) -> IntVector:
    """Return ``count`` indices below ``size``, of which small ones are more frequent."""
    return np.asarray((size * rng.random(count) ** 2).astype(np.int64))


def table(cells: int) -> Observations:
    """Return a table of about so many cells, without repetitions."""
    rng = np.random.default_rng(0)
    shape = max(int(cells * SHARE_OF_ROWS), 50), max(int(cells * SHARE_OF_COLUMNS), 40)
    places = np.unique(popular(rng, shape[0], cells) * shape[1] + popular(rng, shape[1], cells))
    rows, cols = np.divmod(places, shape[1])
    left, right = (rng.standard_normal((size, TRUE_RANK)) for size in shape)
    values = np.einsum("kr,kr->k", left[rows], right[cols]) + NOISE_SD * rng.standard_normal(rows.size)
    return Observations.from_triples(rows, cols, values, shape)


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def sweep_seconds(observations: Observations) -> float:
    """Return the time of a sweep, which passes over the cells by row and by column."""
    model = build_model(observations, Gaussian(), rank=RANK, sampler="factors", effects="additive", **MODEL)
    sampler, rng = Factors(model, observations), np.random.default_rng(0)
    state, _ = sampler.start(rng)
    state, _ = sampler.step(rng, state, None)
    return min(seconds(lambda: sampler.step(rng, state, None)) for _ in range(SWEEPS))


def first_draw_seconds(observations: Observations, **settings: Any) -> float:
    """Return the time until a chain has its first draw, with all that comes before."""
    model = MatrixCompletion(seed=0, chains=1, jobs=1, warmup=1, draws=1, progress=False, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        begin = time.perf_counter()
        model.fit(*observations.triples(), shape=observations.shape)
        return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cells", type=int, nargs="?", default=10_000_000)
    given = parser.parse_args()
    starts: dict[str, dict[str, Any]] = {
        "defaults, which choose the rank and a transform": {},
        f"joint, rank {RANK}, whose chains start from sweeps": {"sampler": "joint", "rank": RANK},
    }
    small = table(2000)
    sweep_seconds(small)
    for settings in starts.values():
        first_draw_seconds(small, **settings)
    observations = table(given.cells)
    print(f"{observations.size} cells, {observations.shape[0]} x {observations.shape[1]}", flush=True)
    with threadpool_limits(1, "blas"):
        print(f"a sweep at rank {RANK}, two passes over the cells: {sweep_seconds(observations):.1f} s", flush=True)
        for name, settings in starts.items():
            print(f"until the first draw, {name}: {first_draw_seconds(observations, **settings):.0f} s", flush=True)


if __name__ == "__main__":
    main()
