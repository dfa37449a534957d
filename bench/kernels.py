"""How fast the kernels are, in ratios that do not depend on the machine: ``make bench-kernels``.

Everything runs on one thread.  What is compared runs side by side, interleaved, and the medians are compared.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from problems import has_real_data, movielens
from threadpoolctl import threadpool_limits

from manifill.geometry import Stiefel
from manifill.problem import Binomial, Compressed, Gaussian, Likelihood, Model, Observations, SoftplusGaussian
from manifill.problem.conditionals import FactorGivenRest
from manifill.problem.joint import JointDensity, rows_in_block
from manifill.problem.passes import factor_gradient, places_in_blocks
from manifill.sampling.factors import Factors
from manifill.sampling.integrators import Leapfrog, Phase, evaluate
from manifill.types import Matrix

PROBLEMS = ((100, 60, 2_400, 10), (1080, 77, 33_000, 20), (610, 9724, 80_000, 20), (6040, 3706, 1_000_000, 20))
LIKELIHOODS: tuple[tuple[str, Likelihood], ...] = (
    ("gaussian", Gaussian()),
    ("softplus", SoftplusGaussian()),
    ("binomial", Binomial(10)),
)


def medians(functions: Sequence[Callable[[], Any]], seconds: float) -> list[float]:
    """Return the median time of each function, called in turn for about ``seconds``."""
    for function in functions:
        function()
    times: list[list[float]] = [[] for _ in functions]
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds or len(times[0]) < 5:
        for function, taken in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return [float(np.median(taken)) for taken in times]


def random_cells(m: int, n: int, cells: int, seed: int = 0) -> Observations:
    """Return ``cells`` random cells with counts from 0 to 10, which every likelihood accepts."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(m * n, cells, replace=False)
    return Observations.from_triples(chosen // n, chosen % n, rng.integers(0, 11, cells), (m, n))


def c_library() -> ctypes.CDLL:
    """Compile gradient.c as the machine's compiler does best."""
    folder = Path(tempfile.mkdtemp(prefix="manifill-bench-"))
    source, library = Path(__file__).with_name("gradient.c"), folder / "gradient.so"
    subprocess.run(
        ["cc", "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True
    )
    return ctypes.CDLL(str(library))


def against_c(seconds: float) -> float:
    """Print and return the worst ratio of our gradient's time to the C loop's."""
    print("\nlog density + gradient, microseconds (bar: ratio <= 1.3)")
    library, worst = c_library(), 0.0
    for m, n, cells, r in PROBLEMS:
        observations = random_cells(m, n, cells)
        rng = np.random.default_rng(1)
        left, right = rng.standard_normal((m, r)) / r, rng.standard_normal((n, r))
        for name, likelihood in LIKELIHOODS:
            ours, theirs = np.empty_like(left), np.empty_like(left)
            c_call = c_gradient(library, name, observations, left, right, theirs)

            def call(likelihood: Likelihood = likelihood, observations: Observations = observations,
                     left: Matrix = left, right: Matrix = right, ours: Matrix = ours) -> float:  # fmt: skip
                return factor_gradient(observations.by_row, likelihood, 1.0, left, right, ours)

            value, c_value = call(), c_call()
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(value, c_value, rtol=1e-10)
            own, plain = medians((call, c_call), seconds)
            worst = max(worst, own / plain)
            print(f"  {m:5d} x {n:5d} {cells:8d} rank {r}  {name:9s} {own * 1e6:9.1f}  C {plain * 1e6:9.1f}"
                  f"  ratio {own / plain:.2f}")  # fmt: skip
    return worst


def c_gradient(
    library: ctypes.CDLL, name: str, observations: Observations, left: Matrix, right: Matrix, out: Matrix
) -> Callable[[], float]:
    """Return a call of the C loop on these arrays."""
    function = library[f"{name}_gradient"]
    function.restype = ctypes.c_double
    cells = observations.by_row
    arrays = [ctypes.c_void_p(array.ctypes.data) for array in (*cells, left, right, out)]
    sizes = (ctypes.c_int64(left.shape[0]), ctypes.c_int64(left.shape[1]), ctypes.c_double(10.0))
    return lambda: float(function(*sizes, *arrays))


def step_against_gradient(seconds: float) -> float:
    """Print the ratio of a leapfrog step's time to its gradient's, and return the worst of the two large problems.

    A whole step moves U and V once and projects their velocities.  The step in V alone is the dearest where columns
    outnumber their cells: it costs about 8 n r² operations, its gradient 2 N r.
    """
    print("\nwhole geodesic leapfrog step, microseconds (bar: <= 3 gradients on the two large ones)")
    worst = 0.0
    for m, n, cells, r in PROBLEMS:
        observations = random_cells(m, n, cells)
        by_row, by_column = observations.by_row, observations.by_column
        pairs = [step_and_gradient(m, n, by_row, r, seconds), step_and_gradient(n, m, by_column, r, seconds)]
        step, gradient = (sum(times) for times in zip(*pairs, strict=True))
        ratios = [moved / evaluated for moved, evaluated in pairs]
        if cells >= 80_000:
            worst = max(worst, step / gradient)
        print(f"  {m:5d} x {n:5d} {cells:8d} rank {r}  step {step * 1e6:9.1f}  gradient {gradient * 1e6:9.1f}"
              f"  ratio {step / gradient:.2f}  (U {ratios[0]:.2f}, V {ratios[1]:.2f})")  # fmt: skip
    return worst


def step_and_gradient(rows: int, others: int, cells: Compressed, r: int, seconds: float) -> tuple[float, float]:
    """Return the median times of a leapfrog step in one factor and of its gradient alone."""
    rng = np.random.default_rng(1)
    manifold, leapfrog = Stiefel.of_shape(rows, r), Leapfrog()
    no_effects = np.empty((0, r))
    target = FactorGivenRest(cells, Gaussian(), 1.0, rng.standard_normal((others, r)), no_effects, no_effects)
    position = manifold.random_point(rng)
    phase = Phase(position, np.empty_like(position), np.empty_like(position))
    manifold.random_velocity(rng, phase.position, phase.velocity)
    evaluate(manifold, target, phase.position, phase.gradient)
    out = np.empty_like(position)

    def step_of_a_tree() -> None:
        leapfrog.advance(manifold, target, phase, 1e-4)
        manifold.project(phase.position, phase.velocity)

    step, gradient = medians((step_of_a_tree, lambda: target.log_density_gradient(phase.position, out)), seconds)
    return step, gradient


# Tables of different sizes, and ranks, for the share of cells at which the default sampler's gradient changes its way.
TABLES, RANKS = ((100, 60), (400, 200), (400, 1000), (100, 10_000)), (5, 20)


def rows_against_cells(seconds: float) -> None:
    """Print what whole rows of X cost against single cells, below and above the share where they take over."""
    print("\nwhole rows of X, time against that of single cells, at half, once and twice the share that divides them")
    for (m, n), r in product(TABLES, RANKS):
        share = next(k / 1000 for k in range(1, 1001) if rows_in_block(round(k / 1000 * m * n) + 1, (m, n), r))
        ratios = [row_ratio(m, n, round(factor * share * m * n), r, seconds / 4) for factor in (0.5, 1.0, 2.0)]
        shown = "  ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"  {m:5d} x {n:5d} rank {r:2d}  share {share:.3f}  {shown}")


def row_ratio(m: int, n: int, cells: int, r: int, seconds: float) -> float:
    """Return the ratio of times of the joint gradient, by whole rows and by single cells."""
    rng, by_row = np.random.default_rng(1), random_cells(m, n, cells).by_row
    sparse = JointDensity.of(Model(r, Gaussian(), 1.0), by_row, (m, n))
    sparse = sparse._replace(places=sparse.places[:0], block=np.empty((2, 0, n)))
    rows = rows_in_block(m * n, (m, n), r)
    dense = sparse._replace(places=places_in_blocks(by_row, n, rows), block=np.empty((2, rows, n)))
    position = rng.standard_normal((m + n + 1) * r)
    out = np.empty_like(position)
    by_rows, by_cells = medians([partial(d.log_density_gradient, position, out) for d in (dense, sparse)], seconds)
    return by_rows / by_cells


def against_smurff(sweeps: int) -> float | None:
    """Print and return the ratio of one A Bᵀ sweep to one of SMURFF's BPMF on MovieLens, rank 20."""
    print("\none A B' Gibbs sweep, rank 20, milliseconds (bar: ratio <= 1)")
    try:
        import smurff
    except ImportError:
        print("  smurff is not installed: pip install 'manifill[bench]'")
        return None
    observations, name = movielens_like()
    rows, cols, values = observations.triples()
    from scipy.sparse import coo_matrix

    matrix = coo_matrix((values, (rows, cols)), shape=observations.shape)
    session = smurff.BPMFSession(
        Ytrain=matrix, num_latent=20, burnin=10_000, nsamples=0, verbose=0, seed=1, num_threads=1, save_freq=0
    )
    session.init()
    sampler, rng = Factors(Model(20, Gaussian(), 1.0), observations), np.random.default_rng(0)
    state, tuning = sampler.start(rng)
    states = [state]

    def sweep() -> None:
        states[0], _ = sampler.step(rng, states[0], tuning)

    begin = time.perf_counter()
    own, other = medians((sweep, session.step), sweeps * 0.1)
    print(f"  {name}: {own * 1e3:.1f}, SMURFF {other * 1e3:.1f}, ratio {own / other:.2f}"
          f"  ({time.perf_counter() - begin:.0f} s)")  # fmt: skip
    return own / other


def movielens_like() -> tuple[Observations, str]:
    """Return MovieLens ml-latest-small, centred, or random cells of the same size where it is not at hand."""
    if not has_real_data():
        cells = random_cells(610, 9724, 100_836)
        return cells, "random cells of MovieLens' size (MANIFILL_DATA names no folder)"
    rows, cols, stars = movielens().triples()
    return Observations.from_triples(rows, cols, stars - stars.mean()), "MovieLens"


def growth(seconds: float, largest: int) -> tuple[float, float]:
    """Print and return the exponent of the gradient's cost in the number of cells, and the bytes held a cell."""
    print("\ngrowth with the number of observations, 6040 x 3706, rank 20 (bars: exponent <= 1.05, bytes <= 40)")
    sizes = [size for size in (10_000, 100_000, 1_000_000, 10_000_000) if size <= largest]
    rng, r, times, held = np.random.default_rng(2), 20, [], 0.0
    for size in sizes:
        observations = random_cells(6040, 3706, size)
        left, right = rng.standard_normal((6040, r)), rng.standard_normal((3706, r))
        out = np.empty_like(left)
        (taken,) = medians(
            (lambda o=observations, a=left, b=right, g=out: factor_gradient(o.by_row, Gaussian(), 1.0, a, b, g),),  # type: ignore[misc]
            seconds,
        )
        times.append(taken)
        held = sum(array.nbytes for view in (observations.by_row, observations.by_column) for array in view) / size
        print(f"  {size:9d} cells  {taken * 1e3:8.2f} ms  {held:5.1f} bytes a cell")
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    last = float(np.log(times[-1] / times[-2]) / np.log(sizes[-1] / sizes[-2]))
    print(f"  exponent {exponent:.3f} over all, {last:.3f} over the last factor of ten")
    return max(exponent, last), held


START_UP = """
import time
begin = time.perf_counter()
import numpy as np
from manifill import MatrixCompletion
rng = np.random.default_rng(0)
table = rng.standard_normal((100, 10)) @ rng.standard_normal((10, 60))
table[rng.random(table.shape) > 0.4] = np.nan
from manifill.sampling import chains
original = chains._next_line
def first_line(*arguments, **options):
    print(f"{time.perf_counter() - begin:.2f}", flush=True)
    chains._next_line = original
    return original(*arguments, **options)
chains._next_line = first_line
import warnings
warnings.simplefilter("ignore")
MatrixCompletion(rank=10, chains=1, warmup=1, draws=2, seed=0, jobs=1, progress=False).fit(table)
"""


def start_up() -> None:
    """Print how long a process takes to its first iteration: with an empty kernel cache, then with a full one."""
    print("\nseconds from start to the first iteration, Gaussian (bars: 30 when compiling, 3 from the disk cache)")
    with tempfile.TemporaryDirectory(prefix="manifill-bench-") as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        for label in ("empty cache", "full cache", "full cache"):
            done = subprocess.run(
                [sys.executable, "-c", START_UP], env=environment, check=True, capture_output=True, text=True
            )
            print(f"  {label}: {done.stdout.split()[0]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="about how long to time each comparison")
    parser.add_argument("--quick", action="store_true", help="a smaller table, for a first look")
    options = parser.parse_args()
    seconds = 0.3 if options.quick else options.seconds
    with threadpool_limits(1):
        worst_gradient = against_c(seconds)
        worst_step = step_against_gradient(seconds)
        rows_against_cells(seconds)
        sweep = against_smurff(20 if options.quick else 100)
        exponent, held = growth(seconds, 1_000_000 if options.quick else 10_000_000)
    start_up()
    print("\nsummary")
    print(f"  gradient against C, worst      {worst_gradient:.2f}  (<= 1.3)")
    print(f"  step against gradient, worst   {worst_step:.2f}  (<= 3)")
    print(f"  A B' sweep against SMURFF      {'not measured' if sweep is None else f'{sweep:.2f}'}  (<= 1)")
    print(f"  exponent in the cells          {exponent:.3f}  (<= 1.05)")
    print(f"  bytes a cell                   {held:.1f}  (<= 40)")


if __name__ == "__main__":
    main()
