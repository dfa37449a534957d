"""Simulation-based calibration (Talts and others 2018): the truth must rank uniformly among draws of its posterior.

Parameters come from the prior and data from them; a chain with its ordinary warm-up is run on the data, and the rank of
each true quantity among the chain's draws is noted.  Over many data sets ranks are uniform if the chain draws from the
posterior and its draws are independent, hence the thinning.  What it adds to Geweke's test is the whole way that a user
takes: start, warm-up, learned masses, step size and lengths, and matrices in which there is something to learn.
"""

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from manifill.base.arrays import Generator, IntVector, Matrix, Vector
from manifill.base.priors import Gamma, ScaledF
from manifill.likelihoods import Binomial, Gaussian, SoftplusGaussian
from manifill.likelihoods.poisson import Poisson
from manifill.problem import Model, Observations
from manifill.sampling.joint_sampler import Joint
from manifill.sampling.state import State
from manifill.sampling.workers import quiet_worker_replacement
from manifill.unknowns import EffectsPrior
from tests.exact.prior import completed, draw_data, draw_state, sigmas
from tests.problem.likelihoods import noise_of

SHAPE, RANK, SHARE = (12, 8), 2, 0.7

# The slowest quantities, σ and the log likelihood, have autocorrelation times of 4 to 17 iterations.
WARM_UP, DRAWS, THIN = 300, 31, 20

# Entries of X, effects and noise are all of about 1.  The noise has a prior of some weight: there are about as many
# cells as degrees of freedom, and without it σ may fall so low that a chain with a fixed step size is stuck there.
RATE, NOISE = Gamma(4.0, 40.0), ScaledF(shape=16.0, tail=16.0, scale=1.0, floor=0.02)
EFFECTS = EffectsPrior(0.5, 1.0, Gamma(4.0, 4.0), Gamma(4.0, 4.0))
LIKELIHOODS = {"gaussian": Gaussian(), "softplus": SoftplusGaussian(), "binomial": Binomial(10), "poisson": Poisson()}
# Means of counts are exp(x), so that large entries, which RATE allows, would be counts of many millions.
RATES = {"poisson": Gamma(40.0, 200.0)}
MODELS = {
    name: Model(RANK, of, RATES.get(name, RATE), noise_of(of, NOISE), effects=EFFECTS)
    for name, of in LIKELIHOODS.items()
}


class Data(NamedTuple):
    """Observed cells, and four to look at: two that are observed and two that are not."""

    rows: IntVector
    cols: IntVector
    values: Vector
    shown: tuple[IntVector, IntVector]


def simulate(rng: Generator, model: Model) -> tuple[State, Data]:
    """Return parameters from the prior and data from them."""
    truth, order = draw_state(rng, model, SHAPE), rng.permutation(SHAPE[0] * SHAPE[1])
    rows, cols = np.divmod(np.sort(order[: round(SHARE * order.size)]), SHAPE[1])
    values = draw_data(rng, model, truth, rows, cols)
    return truth, Data(rows, cols, values, np.divmod(order[[0, 1, -1, -2]], SHAPE[1]))


def names(model: Model) -> list[str]:
    of_noise = ["sigma", "noise rate"] if model.likelihood.has_noise else []
    cells = [f"{which} cell {k}" for which in ("observed", "missing") for k in (0, 1)]
    return ["lambda", "largest s", "smallest s", "mean", "row precision", "log likelihood", *cells, *of_noise]


def quantities(model: Model, state: State, data: Data) -> Vector:
    """Return what is ranked, in the order of ``names``."""
    X, s, effects = completed(state), state.unknowns.s, state.unknowns.effects
    mean = effects.mean + effects.row.mean() + effects.column.mean()
    x, cells = X[data.rows, data.cols], X[data.shown]
    of_noise = [state.noise.precision**-0.5, state.noise.rate] if model.likelihood.has_noise else []
    log_likelihood = log_density(model, data.values, x, sigmas(state, data.rows, data.cols))
    of_scale = [state.rate, s.max(), s.min(), mean, effects.row_precision]
    return np.array([*of_scale, log_likelihood, *cells, *of_noise])


def log_density(model: Model, y: Vector, x: Vector, sigma: Vector | float) -> float:
    if isinstance(model.likelihood, Binomial):
        return float(np.sum(y * x - model.likelihood.trials * np.logaddexp(0.0, x)))
    if isinstance(model.likelihood, Poisson):
        return float(np.sum(y * x - np.exp(x)))
    return float(np.sum(stats.norm.logpdf(y, model.likelihood.mean(x), sigma)))


def chain(rng: Generator, model: Model, data: Data, draws: int = DRAWS, thin: int = THIN) -> Matrix:
    """Return the quantities of thinned draws, (draws, …)."""
    observations = Observations.from_triples(data.rows, data.cols, data.values, SHAPE)
    sampler = Joint(model, observations, warmup=WARM_UP)
    state, tuning = sampler.start(rng)
    for _ in range(WARM_UP):
        state, info = sampler.step(rng, state, tuning)
        tuning = sampler.adapt(tuning, info)
    tuning, rows = sampler.freeze(tuning), []
    for k in range(draws * thin):
        state, _ = sampler.step(rng, state, tuning)
        if k % thin == thin - 1:
            rows.append(quantities(model, state, data))
    return np.array(rows)


def ranks_of_one(rng: Generator, model: Model) -> IntVector:
    """Return how many draws are below the truth, from 0 to DRAWS, for one data set."""
    truth, data = simulate(rng, model)
    return np.asarray(np.sum(chain(rng, model, data) < quantities(model, truth, data), axis=0))


def ranks(rng: Generator, model: Model, sets: int, processes: int = 1) -> IntVector:
    """Return the ranks (sets, …)."""
    with quiet_worker_replacement():
        return np.array(Parallel(processes)(delayed(ranks_of_one)(child, model) for child in rng.spawn(sets)))


def p_values(found: IntVector, bins: int) -> Vector:
    """Return, for each column of ranks, the p-value of χ² against the uniform distribution over ``bins`` bins."""
    counts = np.stack([np.bincount(column * bins // (DRAWS + 1), minlength=bins) for column in found.T], axis=1)
    return np.asarray(stats.chisquare(counts, axis=0).pvalue)


def z_scores(found: IntVector) -> Matrix:
    """Return z-scores (2, …) of the mean and of the spread of ranks: a bias, and a width that is too small or large."""
    ranks = np.arange(DRAWS + 1.0)
    squares = (ranks - ranks.mean()) ** 2
    by_mean = (found.mean(axis=0) - ranks.mean()) / (ranks.std() / np.sqrt(len(found)))
    spread = ((found - ranks.mean()) ** 2).mean(axis=0)
    return np.array([by_mean, (spread - squares.mean()) / (squares.std() / np.sqrt(len(found)))])


def table(model: Model, found: IntVector, bins: int) -> str:
    """Return a line for each quantity."""
    columns = zip(names(model), p_values(found, bins), *z_scores(found), strict=True)
    lines = [f"{name:16}{p:10.4f}{bias:8.2f}{width:8.2f}" for name, p, bias, width in columns]
    head = f"{model.likelihood.name}, {len(found)} data sets"
    return "\n".join([head, f"{'':16}{'p of χ²':>10}{'mean z':>8}{'spread z':>8}", *lines])


if __name__ == "__main__":
    for each in MODELS.values():
        print(table(each, ranks(np.random.default_rng(1), each, sets=256, processes=2), bins=8), flush=True)
