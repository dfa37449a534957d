"""Comparison of the samplers: ``make bench-samplers``, or ``python bench/samplers.py --quick``.

One thread.  Every sampler has the same model, the paper's with the default priors of this package, and starts from the
same kind of point.  Before every run it is checked that NumPyro's density equals ours up to a constant, and that its
gradient is the derivative of its density.  joint runs a second time with effects, as it does by default.  Times are
processor times, of the draws, and of the whole run with start and warm-up; neither has compilation.  joint and gibbs
have the same number of iterations of warm-up, and NumPyro has 500.  Gradients are those of trajectories and
of their starts; the slice updates of joint evaluate log densities in addition, which the times include.  NumPyro's
chain is tuned by hand (``numpyro_polar.py``): a hand-written gradient of the inverse root, no U and V formed, one
compiled iteration per call.  The table also has the time per gradient of NumPyro without this tuning
(``numpyro_plain.py``).
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpyro_plain import microseconds_per_gradient
from numpyro_polar import (
    PolarProblem,
    Start,
    gradient_of,
    log_volume,
    position_at,
    potential_of,
    sample_polar,
    split_position,
)
from problems import TRIALS, has_real_data, mice, movielens, synthetic
from sampler_tables import bars, details, summary
from threadpoolctl import threadpool_limits

from manifill.base.arrays import Array, Generator, IntVector, Matrix
from manifill.base.priors import Gamma, Marginal
from manifill.likelihoods import WITHOUT_NOISE, Binomial, Gaussian, Likelihood, SoftplusGaussian, WithNoise
from manifill.posterior.cell_draws import product_at_cells
from manifill.posterior.diagnostics import LATE_TREES
from manifill.posterior.identified import singular_values
from manifill.problem import Model, Observations, scaled_effects_prior, scaled_noise_prior, scaled_rate_prior
from manifill.problem.column_spreads import column_spreads, divided_by
from manifill.problem.joint_density import JointDensity
from manifill.sampling.data import Data
from manifill.sampling.joint_sampler import Joint
from manifill.sampling.loop import iterate
from manifill.sampling.paper_gibbs import Gibbs
from manifill.sampling.state import State, layout_of
from manifill.unknowns import Effects, Unknowns

CELLS, DATA_SEED, CELLS_SEED = 60, 0, 7

# The step of finite differences.
DIFFERENCE = 1e-5

# The least number of iterations of warm-up, and of draws, whatever the time limit.
FEWEST = 50

# Gradients at the starts of trajectories, per draw: one of all parameters, or one each of s, U and V.
GRADIENTS_TO_START: dict[type, int] = {Joint: 1, Gibbs: 3}


class Size(NamedTuple):
    """The number of chains and iterations."""

    chains: int = 4
    warmup: int = 200
    draws: int = 1000


QUICK, MOVIELENS, POLAR = Size(2, 200, 300), Size(4, 200, 400), Size(1, 500, 1000)

# One problem per likelihood.
QUICK_ROWS = ("case 1, 40 %, noise 1", "case 2 S-SVD, 40 %, noise 0.3", "case 3 B-SVD, 40 %")


class Problem(NamedTuple):
    """A row of the table."""

    name: str
    train: Observations
    cells: tuple[IntVector, IntVector]  # held out
    likelihood: Likelihood
    rank: int
    size: Size

    def model(self, *, effects: bool = False) -> Model:
        """Return the model with the package's default priors."""
        return Model(
            rank=self.rank,
            likelihood=self.likelihood,
            rate=scaled_rate_prior(self.rank, self.train, self.likelihood, effects=effects),
            noise=WithNoise(scaled_noise_prior(self.train, effects=effects))
            if self.likelihood.has_noise
            else WITHOUT_NOISE,
            effects=scaled_effects_prior(self.train, self.likelihood) if effects else None,
        )


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the rows; the real data only if MANIFILL_DATA names their folder."""
    gaussian, softplus, binomial = Gaussian(), SoftplusGaussian(), Binomial(TRIALS)
    rows: list[tuple[str, int, float, float, Likelihood]] = [
        ("case 1, 40 %, no noise", 1, 0.4, 0.0, gaussian),
        ("case 1, 40 %, noise 1", 1, 0.4, 1.0, gaussian),
        ("case 2 S-SVD, 10 %, noise 0.3", 2, 0.1, 0.3, softplus),
        ("case 2 S-SVD, 40 %, noise 0.3", 2, 0.4, 0.3, softplus),
        ("case 2 SVD, 10 %, noise 0.3", 2, 0.1, 0.3, gaussian),
        ("case 2 SVD, 40 %, noise 0.3", 2, 0.4, 0.3, gaussian),
        ("case 3 B-SVD, 10 %", 3, 0.1, 0.0, binomial),
        ("case 3 B-SVD, 40 %", 3, 0.4, 0.0, binomial),
    ]
    for name, case, share, noise, likelihood in rows:
        yield _problem(name, *synthetic(case, share, noise, DATA_SEED), likelihood, 10, QUICK if quick else Size())
    if quick or not has_real_data():
        print("real data left out" + ("" if quick else ": MANIFILL_DATA is not set"))
        return
    for name, real in (("mice SVD, 40 %", gaussian), ("mice S-SVD, 40 %", softplus)):
        train, held_out = mice().split_cells(np.random.default_rng(DATA_SEED), 0.4)
        yield _problem(name, divided_by(train, column_spreads(train)), held_out, real, 20, Size())
    train, held_out = movielens().split(np.random.default_rng(DATA_SEED))
    yield _problem("MovieLens B-SVD", train, held_out, Binomial(10, 0.5), 20, MOVIELENS)


def _problem(
    name: str, train: Observations, held_out: Observations, likelihood: Likelihood, rank: int, size: Size
) -> Problem:
    rows, cols, _ = held_out.triples()
    chosen = np.random.default_rng(CELLS_SEED).choice(rows.size, CELLS, replace=False)
    return Problem(name, train, (rows[chosen], cols[chosen]), likelihood, rank, size)


class Run(NamedTuple):
    """The draws of some chains."""

    series: dict[str, Array]  # (chain, draw) each: cells, σ if there is noise, the log density, sorted s
    gradients: Matrix  # (chain, draw)
    seconds: float  # of the draws
    seconds_before: float  # of start and warm-up
    divergences: int
    depth_limit: float  # share of trees that reached it: in the draws, or late in warm-up for joint
    cut_short: bool  # the time limit allowed fewer draws, or less warm-up

    def figures(self) -> dict[str, Any]:
        """Return the entries of the table."""
        rhat = {name: _statistic("rhat", values) for name, values in self.series.items()}
        ess = {name: _statistic("ess", values) for name, values in self.series.items()}
        cells = np.array([value for name, value in ess.items() if name.startswith("x")])
        scalar = ess.get("sigma", ess["lp"])
        thousands = float(self.gradients.sum()) / 1000.0
        low, middle = float(np.quantile(cells, 0.05)), float(np.median(cells))
        return {
            "ess_per_second": low / self.seconds,
            "ess_per_second_median": middle / self.seconds,
            "ess_per_second_scalar": scalar / self.seconds,
            "ess_per_second_whole": low / (self.seconds + self.seconds_before),
            "seconds_before": self.seconds_before,
            "ess_per_1000": low / thousands,
            "ess_per_1000_median": middle / thousands,
            "steps": float(np.median(self.gradients)),
            "microseconds": self.seconds / thousands * 1000.0,
            "rhat": max(rhat.values()),
            "worst": max(rhat, key=lambda name: rhat[name]),
            "divergences": float(self.divergences),
            "depth_limit": self.depth_limit,
            "chains": len(self.gradients),
            "draws": self.gradients.shape[1],
            "ess_per_draw": low / self.gradients.size,
            "cut_short": self.cut_short,
        }


def _statistic(name: str, values: Array) -> float:
    array_stats: Any = import_module("arviz_stats.base").array_stats
    if name == "rhat" and len(values) == 1:
        half = values.shape[1] // 2
        values = np.stack([values[0, :half], values[0, -half:]])
    return float(getattr(array_stats, name)(values, chain_axis=0, draw_axis=1))


def run_ours(problem: Problem, build: Callable[[], Any], size: Size, limit: float = np.inf) -> Run:
    """Run chains of one of our samplers; ``limit`` is in seconds per chain, and half of it is for warm-up."""
    _compile(build())
    records = [_chain(problem, build(), seed, size, limit) for seed in range(size.chains)]
    length = min(len(record["gradients"]) for record in records)
    series = {name: np.array([record[name][:length] for record in records]) for name in records[0]}
    gradients, seconds, before, diverging = (
        series.pop(k) for k in ("gradients", "seconds", "seconds_before", "diverging")
    )
    limited = max(float(series.pop(k).mean()) for k in ("limited", "limited_before"))
    times = float(seconds.sum()), float(before[:, 0].sum())
    return Run(series, gradients, *times, int(diverging.sum()), limited, bool(series.pop("cut").any()))


def _compile(sampler: Any) -> None:
    """Run every function of a chain once, so that no compilation is timed."""
    rng = np.random.default_rng(0)
    for _ in iterate(rng, sampler, *sampler.start(rng), warmup=1, draws=1):
        pass


def _chain(problem: Problem, sampler: Any, seed: int, size: Size, limit: float) -> dict[str, list[float]]:
    rng, starts, begin = np.random.default_rng(seed), GRADIENTS_TO_START[type(sampler)], time.process_time()
    state, tuning = sampler.start(rng)
    state, tuning, trees = _warm_up(rng, sampler, state, tuning, size.warmup, begin + 0.5 * limit)
    record: dict[str, list[float]] = {}
    before = time.process_time() - begin
    for drawn in iterate(rng, sampler, state, tuning, warmup=0, draws=size.draws):
        for name, value in _quantities(problem, drawn.state).items():
            record.setdefault(name, []).append(value)
        named = {"gradients": "n_steps", "diverging": "diverging", "limited": "reached_max_depth"}
        for name, key in named.items():
            record.setdefault(name, []).append(drawn.statistics[key])
        record["gradients"][-1] += starts
        record.setdefault("seconds", []).append(drawn.seconds)
        if time.process_time() - begin > limit and len(record["seconds"]) >= FEWEST:
            break
    count = len(record["seconds"])
    first, last = (round(fraction * len(trees)) for fraction in LATE_TREES)
    of_chain = {
        "cut": float(len(trees) < size.warmup or count < size.draws),
        "limited_before": float(np.mean(trees[first:last])),
        "seconds_before": before,
    }
    return record | {name: [value] * count for name, value in of_chain.items()}


def _warm_up(
    rng: Generator, sampler: Any, state: Any, tuning: Any, warmup: int, deadline: float
) -> tuple[Any, Any, list[float]]:
    """Return state and tuning after warm-up, which may end early at the deadline, and which trees reached the limit."""
    trees: list[float] = []
    for done in iterate(rng, sampler, state, tuning, warmup=warmup, draws=0):
        state, tuning = done.state, done.tuning
        trees.append(done.statistics["reached_max_depth"])
        if len(trees) >= FEWEST and time.process_time() >= deadline:
            break
    if len(trees) < warmup:  # otherwise the loop has frozen it
        tuning = sampler.freeze(tuning)
    return state, tuning, trees


def _quantities(problem: Problem, state: State) -> dict[str, float]:
    x = np.empty(CELLS)
    left, right = state.unknowns.factors()
    product_at_cells(left, right, *problem.cells, x)
    values = {f"x{k}": float(value) for k, value in enumerate(x)} | {"lp": float(state.log_density)}
    values |= {f"s{k}": float(value) for k, value in enumerate(singular_values(left, right))}
    if problem.likelihood.has_noise:
        values["sigma"] = float(state.noise.precision**-0.5)
    return values


def polar_problem(problem: Problem) -> tuple[PolarProblem, Start]:
    """Return the same problem for NumPyro, and a starting point of our sampler."""
    model, train = problem.model(), problem.train
    assert isinstance(model.rate, Gamma)
    state, _ = Joint(model, train).start(np.random.default_rng(0))
    rows, cols, values = train.triples()
    polar = PolarProblem(
        rows=rows,
        cols=cols,
        values=problem.likelihood.encode(values),
        shape=train.shape,
        rank=problem.rank,
        likelihood=cast(Any, problem.likelihood.name),
        rate=(model.rate.shape, model.rate.rate),
        noise=scaled_noise_prior(train, effects=False)[:],
        trials=getattr(problem.likelihood, "trials", 1),
    )
    at = state.unknowns
    return polar, (at.U, at.s, at.V, state.noise.precision)


def check_same_model(problem: Problem, polar: PolarProblem, start: Start) -> None:
    """Raise an error unless NumPyro's density of U, s, V and γ differs from ours by a constant."""
    (U, s, V, precision), potential, differences = start, potential_of(polar), []
    for rng in (np.random.default_rng(seed) for seed in range(3)):
        noise = precision * np.exp(rng.standard_normal()) if problem.likelihood.has_noise else 1.0
        point = U, s * np.exp(0.3 * rng.standard_normal(s.size)), V[rng.permutation(len(V))], float(noise)
        ours, position = our_log_density(problem, point), position_at(polar, point)
        differences.append(float(-potential(position) - log_volume(split_position(polar, position))) - ours)
        check_gradient(potential, position, rng)
    if not np.ptp(differences) <= 1e-9 * abs(ours):
        raise AssertionError(f"NumPyro's model is not ours: its log density differs from ours by {differences}")


def our_log_density(problem: Problem, point: Start) -> float:
    """Return log p(y, U, s, V, γ) up to a constant; λ, and the rate of γ, are integrated out."""
    (U, s, V, precision), model, train = point, problem.model(), problem.train
    density = JointDensity.of(model, Data.encoded(model, train).by_row, layout_of(model, train))
    density = density._replace(noise=Marginal.over(precision, 0.0))
    position = Unknowns(U, s, V, Effects.none(), np.empty(0)).pack(density.layout)
    value = density.log_density_gradient(position, np.empty_like(position))
    if not problem.likelihood.has_noise:
        return value
    shape, tail, scale, floor = scaled_noise_prior(train, effects=False)
    power = shape - 1.0 + 0.5 * len(train.triples()[2])
    return float(value + power * np.log(precision) - floor * precision - (shape + tail) * np.log(precision + scale))


def check_gradient(potential: Callable[[Any], Any], position: Any, rng: Generator) -> None:
    """Raise an error unless the gradient, which is partly hand-written, is the derivative of the potential."""
    direction = rng.standard_normal(position.size) / np.sqrt(position.size)
    slope = float(gradient_of(potential)(position) @ direction)
    ahead, behind = (float(potential(position + sign * DIFFERENCE * direction)) for sign in (1.0, -1.0))
    if not np.isclose(slope, (ahead - behind) / (2.0 * DIFFERENCE), rtol=1e-4):
        raise AssertionError(f"NumPyro's gradient is not the derivative of its density: {slope}")


def run_polar(problem: Problem, limit: float) -> dict[str, Any]:
    """Run NumPyro's chain."""
    begin = time.process_time()
    polar, start = polar_problem(problem)
    before = time.process_time() - begin
    check_same_model(problem, polar, start)
    got = sample_polar(polar, start, problem.cells, POLAR.warmup, POLAR.draws, seed=0, seconds=limit)
    series: dict[str, Array] = {f"x{k}": got.x[None, :, k] for k in range(CELLS)} | {"lp": got.log_density[None]}
    if problem.likelihood.has_noise:
        series["sigma"] = got.sigma[None]
    limited = float(np.mean(got.steps >= 1023))
    gradients = got.steps[None].astype(
        np.float64
    )  # the gradient at the start of a trajectory is that at the end of the last one
    times = got.draw_seconds, before + got.warmup_seconds
    run = Run(series, gradients, *times, int(got.diverging.sum()), limited, got.cut_short)
    return run.figures() | {"plain_microseconds": microseconds_per_gradient(polar, start)}


def table_row(problem: Problem, limit: float) -> dict[str, Any]:
    """Run all samplers on one problem; ``limit`` is in seconds, for gibbs and for NumPyro."""
    model, full, train, size = problem.model(), problem.model(effects=True), problem.train, problem.size
    return {
        "problem": problem.name,
        "joint": run_ours(problem, lambda: Joint(model, train, warmup=size.warmup), size).figures(),
        "joint with effects": run_ours(problem, lambda: Joint(full, train, warmup=size.warmup), size).figures(),
        "gibbs": run_ours(problem, lambda: Gibbs(model, train), size, limit / size.chains).figures(),
        "numpyro": run_polar(problem, limit),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three synthetic problems and shorter runs: five minutes")
    parser.add_argument("--rows", default="", help="only problems whose names contain this")
    parser.add_argument("--seconds", type=float, default=90.0, help="time limit of gibbs, and of NumPyro, per problem")
    parser.add_argument("--out", type=Path, help="JSON file for the results; problems already in it are kept")
    options = parser.parse_args()
    limit = 20.0 if options.quick else options.seconds
    rows: list[dict[str, Any]] = []
    if options.out and options.out.exists():
        rows = json.loads(options.out.read_text())
    with threadpool_limits(1):
        for problem in problems(options.quick):
            if options.rows not in problem.name or (options.quick and problem.name not in QUICK_ROWS):
                continue
            print(f"{problem.name} …", file=sys.stderr, flush=True)
            rows = [row for row in rows if row["problem"] != problem.name]
            rows.append(table_row(problem, limit))
            print(details(rows[-1:]), flush=True)
            if options.out:
                options.out.write_text(json.dumps(rows, indent=1))
    print("\n\n".join(["", details(rows), summary(rows), bars(rows)]))


if __name__ == "__main__":
    main()
