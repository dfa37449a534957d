"""Speed of the kernels, in ratios that do not depend on the machine: ``make bench-kernels``.

Everything runs on one thread.  The functions to compare are called in turn, and their median times are compared.
"""

import argparse
import ctypes
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
from compilation import time_fit
from problems import has_real_data, movielens
from threadpoolctl import threadpool_limits

from manifill.base.arrays import Matrix
from manifill.geometry import Stiefel
from manifill.kernels.cell_passes import factor_gradient, places_in_blocks
from manifill.kernels.compressed import Compressed
from manifill.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian, WithNoise
from manifill.problem import Model, Observations
from manifill.problem.conditional_densities import FactorGivenRest
from manifill.problem.joint_density import JointDensity, Scratch, rows_in_block
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.integrators import Leapfrog, Phase
from manifill.sampling.loop import iterate
from manifill.sampling.system import System
from manifill.unknowns import Layout

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
    """Compile gradient.c, optimised for this machine."""
    folder = Path(tempfile.mkdtemp(prefix="manifill-bench-"))
    source, library = Path(__file__).with_name("gradient.c"), folder / "gradient.so"
    subprocess.run(
        ["cc", "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True
    )
    return ctypes.CDLL(str(library))


def against_c(seconds: float) -> float:
    """Print the ratios of the time of our gradient to that of the C loop, and return the worst."""
    print("\nlog density + gradient, microseconds (bar: ratio <= 1.3)")
    library, worst = c_library(), 0.0
    for m, n, cells, r in PROBLEMS:
        observations = random_cells(m, n, cells)
        rng = np.random.default_rng(1)
        left, right = rng.standard_normal((m, r)) / r, rng.standard_normal((n, r))
        for name, likelihood in LIKELIHOODS:
            ours, theirs = np.empty_like(left), np.empty_like(left)
            c_call = c_gradient(library, name, observations, left, right, theirs)
            call = partial(factor_gradient, observations.by_row, likelihood.compiled(), 1.0, left, right, ours)
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
    """Return a function that calls the C loop with these arrays."""
    function = library[f"{name}_gradient"]
    function.restype = ctypes.c_double
    cells = observations.by_row
    arrays = [ctypes.c_void_p(array.ctypes.data) for array in (*cells, left, right, out)]
    sizes = (ctypes.c_int64(left.shape[0]), ctypes.c_int64(left.shape[1]), ctypes.c_double(10.0))
    return lambda: float(function(*sizes, *arrays))


def step_against_gradient(seconds: float) -> float:
    """Print the ratios of the times of a leapfrog step and its gradient; return the worst of the two large problems.

    A whole step moves U and V once and projects their velocities.  The step in V alone is the most expensive if there
    are few cells per column: it costs about 8 n r² operations, its gradient 2 N r.
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
    manifold, leapfrog, likelihood = Stiefel.of_shape(rows, r), Leapfrog(), Gaussian().compiled()
    no_effects = np.empty((0, r))
    target = FactorGivenRest(cells, likelihood, 1.0, rng.standard_normal((others, r)), no_effects, no_effects)
    system, position = System.of(manifold, target), manifold.random_point(rng)
    phase = Phase(position, np.empty_like(position), np.empty_like(position))
    manifold.random_velocity(rng, phase.position, phase.velocity)
    system.evaluate(phase.position, phase.gradient)
    out = np.empty_like(position)

    def step_of_a_tree() -> None:
        leapfrog.advance(system, phase, 1e-4)
        manifold.project(phase.position, phase.velocity)

    step, gradient = medians((step_of_a_tree, lambda: target.log_density_gradient(phase.position, out)), seconds)
    return step, gradient


# Sizes and ranks at which to measure the share of cells where the gradient of the default sampler switches from single
# cells to whole rows.
TABLES, RANKS = ((100, 60), (400, 200), (400, 1000), (100, 10_000)), (5, 20)


def rows_against_cells(seconds: float) -> None:
    """Print the ratio of times by whole rows of X and by single cells, around the share where the gradient switches."""
    print("\ntime by whole rows of X / by single cells, at 0.5, 1 and 2 times the share where the gradient switches")
    for (m, n), r in product(TABLES, RANKS):
        share = next(k / 1000 for k in range(1, 1001) if rows_in_block(round(k / 1000 * m * n) + 1, (m, n), r))
        ratios = [row_ratio(m, n, round(factor * share * m * n), r, seconds / 4) for factor in (0.5, 1.0, 2.0)]
        shown = "  ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"  {m:5d} x {n:5d} rank {r:2d}  share {share:.3f}  {shown}")


def row_ratio(m: int, n: int, cells: int, r: int, seconds: float) -> float:
    """Return the ratio of the times of the joint gradient by whole rows and by single cells."""
    rng, by_row = np.random.default_rng(1), random_cells(m, n, cells).by_row
    layout = Layout.whole(m, n, r, has_effects=False, coordinates=0)
    either = JointDensity.of(Model(r, Gaussian(), 1.0, WithNoise()), by_row, layout)
    rows = rows_in_block(m * n, (m, n), r)
    sparse = either._replace(places=either.places[:0], scratch=Scratch.for_layout(layout, 0)).with_compiled_pass()
    dense = either._replace(places=places_in_blocks(by_row, n, rows), scratch=Scratch.for_layout(layout, rows))
    dense = dense.with_compiled_pass()
    position = rng.standard_normal(layout.size)
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
    sampler, rng = Factors(Model(20, Gaussian(), 1.0, WithNoise()), observations), np.random.default_rng(0)
    chain = iterate(rng, sampler, *sampler.start(rng), warmup=0, draws=sys.maxsize)
    begin = time.perf_counter()
    own, other = medians((partial(next, chain), session.step), sweeps * 0.1)
    print(f"  {name}: {own * 1e3:.1f}, SMURFF {other * 1e3:.1f}, ratio {own / other:.2f}"
          f"  ({time.perf_counter() - begin:.0f} s)")  # fmt: skip
    return own / other


def movielens_like() -> tuple[Observations, str]:
    """Return MovieLens ml-latest-small, centred, or random cells of the same size if MANIFILL_DATA is not set."""
    if not has_real_data():
        cells = random_cells(610, 9724, 100_836)
        return cells, "random cells of MovieLens' size (MANIFILL_DATA is not set)"
    rows, cols, stars = movielens().triples()
    return Observations.from_triples(rows, cols, stars - stars.mean()), "MovieLens"


def growth(seconds: float, largest: int) -> tuple[float, float]:
    """Print and return the exponent of the time of the gradient in the number of cells, and the bytes per cell."""
    print("\ngrowth with the number of observations, 6040 x 3706, rank 20 (bars: exponent <= 1.05, bytes <= 40)")
    sizes = [size for size in (10_000, 100_000, 1_000_000, 10_000_000) if size <= largest]
    rng, r, times, held = np.random.default_rng(2), 20, [], 0.0
    for size in sizes:
        observations = random_cells(6040, 3706, size)
        left, right = rng.standard_normal((6040, r)), rng.standard_normal((3706, r))
        gradient = partial(factor_gradient, observations.by_row, Gaussian().compiled(), 1.0, left, right)
        (taken,) = medians((partial(gradient, np.empty_like(left)),), seconds)
        times.append(taken)
        held = sum(array.nbytes for view in (observations.by_row, observations.by_column) for array in view) / size
        print(f"  {size:9d} cells  {taken * 1e3:8.2f} ms  {held:5.1f} bytes per cell")
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    last = float(np.log(times[-1] / times[-2]) / np.log(sizes[-1] / sizes[-2]))
    print(f"  exponent {exponent:.3f} over all, {last:.3f} over the last factor of ten")
    return max(exponent, last), held


START_UP = """
import warnings
import numpy as np
from manifill import MatrixCompletion
rng = np.random.default_rng(0)
table = rng.standard_normal((100, 10)) @ rng.standard_normal((10, 60))
table[rng.random(table.shape) > 0.4] = np.nan
warnings.simplefilter("ignore")
MatrixCompletion(rank=10, chains=1, warmup=1, draws=2, seed=0, jobs=1, progress=False).fit(table)
"""


def start_up() -> None:
    """Print the time from process start to the first iteration, with an empty kernel cache, then with a full one."""
    print("\nseconds from start to the first iteration, Gaussian (bars: 30 when compiling, 3 from the disk cache)")
    with tempfile.TemporaryDirectory(prefix="manifill-bench-") as folder:
        for label in ("empty cache", "full cache", "full cache"):
            times = time_fit([sys.executable, "-c", START_UP], Path(folder), chains=1)
            print(f"  {label}: {times.first_iteration:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="approximate time per comparison")
    parser.add_argument("--quick", action="store_true", help="smaller problems and shorter timings")
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
    print(f"  bytes per cell                 {held:.1f}  (<= 40)")


if __name__ == "__main__":
    main()
