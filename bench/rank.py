"""What a rank that is far too large costs: ``make bench-rank``, or with ``ARGS=--quick`` a single repetition.

Tables of a known rank are fitted with the needed rank and with 50, all else by default, in turn; the table has medians
over repetitions.  Times are processor times of whole fits, with the search that drops components, but without
compilation.  The last lines compare the posterior of the components that
were kept with that of all 50, in the posterior standard deviations of the latter: with the default prior of 50
components, and with one under which superfluous components shrink to nothing (docs/math.md, §2.8).
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from problems import has_real_data, movielens
from threadpoolctl import threadpool_limits

from manifill import ConvergenceWarning, MatrixCompletion
from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.priors import ComponentGamma
from manifill.estimators.arguments import build_model
from manifill.likelihoods import Gaussian
from manifill.problem import Model, Observations
from manifill.sampling.factor_gibbs import Factors, FactorsState

GIVEN, NOISE, SHARE = 50, 0.5, 0.3

# Sweeps of the long chains whose predictions are compared, the first of which are left out, and how many chains.
SWEEPS, LEFT_OUT, CHAINS = 1200, 400, 2


class Problem(NamedTuple):
    """Cells to fit, and cells to predict."""

    train: Observations
    test: Observations


class Fit(NamedTuple):
    """What a fit costs, and how well it predicts."""

    seconds: float
    rank: float
    draws: float
    rmse: float
    log_score: float


def simulated(m: int, n: int, rank: int, seed: int) -> Problem:
    """Return noisy cells of a matrix whose low-rank part has entries of variance 1, with effects."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)) / np.sqrt(rank)
    X += 0.5 * rng.standard_normal((m, 1)) + 0.5 * rng.standard_normal(n)
    rows, cols = (index.ravel() for index in np.indices((m, n)))
    Y = Observations.from_triples(rows, cols, (X + NOISE * rng.standard_normal((m, n))).ravel())
    return Problem(*Y.split(rng, 1.0 - SHARE))


def fitted(problem: Problem, rank: int, seed: int) -> Fit:
    """Fit with default settings, one chain after the other in this process."""
    begin = time.process_time()
    model = MatrixCompletion(rank=rank, seed=seed, jobs=1, progress=False).fit(problem.train)
    seconds = time.process_time() - begin
    found = model.score(problem.test)
    return Fit(seconds, model.model_.rank, model.posterior_.draws, found.rmse, found.log_density)


def costs(name: str, needed: int, problem_of: Callable[[int], Problem], repetitions: int) -> None:
    """Print medians of fits with the needed rank and with a much larger one, and how they compare."""
    few, many = list[Fit](), list[Fit]()
    for seed in range(repetitions):
        problem = problem_of(seed)
        few.append(fitted(problem, needed, seed))
        many.append(fitted(problem, GIVEN, seed))
    print(f"{name}, {repetitions} repetitions")
    for rank, fits in ((needed, few), (GIVEN, many)):
        seconds, kept, draws, rmse, log_score = np.median(fits, axis=0)
        print(
            f"  rank {rank:2}, {kept:2.0f} kept: {seconds:6.1f} s, {draws:4.0f} draws per chain, RMSE {rmse:.4f}, "
            f"log score {log_score:.4f}"
        )
    ratio = np.median([b.seconds / a.seconds for a, b in zip(few, many, strict=True)])
    rmse, log_score = (_difference(few, many, name) for name in ("rmse", "log_score"))
    print(f"  rank {GIVEN} takes {ratio:.2f} times as long; RMSE {rmse}, log score {log_score}", flush=True)


def _difference(few: list[Fit], many: list[Fit], name: str) -> str:
    """Return the mean difference of a score, with its standard error if there are several fits."""
    found = np.array([getattr(b, name) - getattr(a, name) for a, b in zip(few, many, strict=True)])
    error = f" ± {found.std(ddof=1) / np.sqrt(found.size):.4f}" if found.size > 1 else ""
    return f"{found.mean():+.4f}{error}"


class Moments(NamedTuple):
    """Posterior means and standard deviations of the test cells without noise, by chain, (CHAINS, cells)."""

    mean: Matrix
    sd: Matrix


def agreement(name: str, problem: Problem, needed: int) -> None:
    """Print how far predictions of the given rank are from those of the needed one, under the prior of the former."""
    given = _model(problem.train, GIVEN)
    print(
        f"{name}, the posterior of rank {needed} compared with that of rank {GIVEN}, both with the prior of the latter"
    )
    for prior, shrunk in (("as it is", 1.0), (f"with 1/{GIVEN}² in place of 1/√{GIVEN}", GIVEN**-1.5)):
        assert isinstance(given.factor_precision, ComponentGamma)
        rate = given.factor_precision.rate * shrunk
        model = replace(given, factor_precision=given.factor_precision._replace(rate=rate))
        few, many = _moments(replace(model, rank=needed), model, problem), _moments(model, model, problem, needed)
        sd = many.sd.mean(axis=0)
        apart = (few.mean.mean(axis=0) - many.mean.mean(axis=0)) / sd
        square = sum(float(np.mean(((each.mean[0] - each.mean[1]) / sd) ** 2)) / 4.0 for each in (few, many))
        widths = np.median(few.sd.mean(axis=0) / sd)
        excess = np.sqrt(max(float(np.mean(apart**2)) - square, 0.0))
        print(
            f"  {prior}: means are {np.sqrt(np.mean(apart**2)):.3f} sd apart, of which Monte Carlo error "
            f"{np.sqrt(square):.3f}, leaving {excess:.3f}; sd {widths:.3f} times as large",
            flush=True,
        )


def _model(train: Observations, rank: int) -> Model:
    unused = dict.fromkeys(("sigma", "noise_prior", "lambda_", "lambda_prior"))
    settings = {"sampler": "factors", "effects": "additive", "noise": "both", "tails": "normal"}
    return build_model(train, Gaussian(), rank=rank, **settings, **unused)


def _moments(model: Model, prior: Model, problem: Problem, first: int | None = None) -> Moments:
    """Return the moments by two chains; those of a larger model continue a chain of its ``first`` components.

    Superfluous components that start large take thousands of sweeps to shrink, so those start as small as the prior has
    them.
    """
    rows, cols, _ = problem.test.triples()
    found = list[tuple[Vector, Vector]]()
    for seed in range(CHAINS):
        rng, sampler = np.random.default_rng([seed, model.rank]), Factors(model, problem.train)
        state, _ = sampler.start(rng)
        if first is not None:
            state = _grown(rng, Factors(replace(model, rank=first), problem.train), state, prior)
        mean, square = np.zeros(rows.size), np.zeros(rows.size)
        for sweep in range(SWEEPS):
            state, _ = sampler.step(rng, state, None)
            if sweep >= LEFT_OUT:
                left, right = state.factors()
                x = np.einsum("ij,ij->i", left[rows], right[cols])
                mean, square = mean + x, square + x**2
        mean, square = mean / (SWEEPS - LEFT_OUT), square / (SWEEPS - LEFT_OUT)
        found.append((mean, np.sqrt(square - mean**2)))
    return Moments(*(np.array(each) for each in zip(*found, strict=True)))


def _grown(rng: Generator, sampler: Factors, more: FactorsState, prior: Model) -> FactorsState:
    """Return a settled state of fewer components, with further ones of the size that the prior has."""
    state, _ = sampler.start(rng)
    for _ in range(100):
        state, _ = sampler.step(rng, state, None)
    assert isinstance(prior.factor_precision, ComponentGamma)
    variance = 2.0 * prior.factor_precision.rate
    A, B = (np.sqrt(variance) * rng.standard_normal(side.shape) for side in (more.A, more.B))
    precisions = np.full(A.shape[1], 1.0 / variance)
    return state.extended(more._replace(A=A, B=B, left_precision=precisions, right_precision=precisions))


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one repetition, without the agreement")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", ConvergenceWarning)
    repetitions = 1 if quick else 3
    fitted(simulated(60, 30, 2, 0), 20, 0)  # compiles
    costs("300×120, rank 10", 10, lambda seed: simulated(300, 120, 10, seed), repetitions)
    costs("2000×60, rank 8", 8, lambda seed: simulated(2000, 60, 8, seed), repetitions)
    if has_real_data():
        costs("MovieLens", 10, lambda seed: Problem(*movielens().split(np.random.default_rng(seed))), 1)
    if not quick:
        with threadpool_limits(1, "blas"):
            agreement("300×120, rank 10", simulated(300, 120, 10, 0), 10)


if __name__ == "__main__":
    main()
