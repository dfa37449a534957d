"""Choice of the penalty: a path of decreasing penalties, evaluated on held-out cells."""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Vector
from manifill.likelihoods import Likelihood
from manifill.map_estimation.leading_triples import leading_triples
from manifill.map_estimation.objective import Objective
from manifill.map_estimation.point import Point
from manifill.map_estimation.precisions import EffectPrecisions, Prior
from manifill.map_estimation.solver import solve
from manifill.problem import Observations
from manifill.problem.additive_fit import positive_square, variance_of

__all__ = ["Choice", "Trial", "choose_penalty", "noise_floor"]

# The fraction of the observed cells that is held out.
HELD_OUT = 0.1

# Ratio of successive penalties.  While the error falls in proportion to the penalty, as it does for noiseless data, the
# ratio is squared at each step, down to SMALLEST_STEP.  SMALLEST_PENALTY is relative to the first penalty.
STEP, SMALLEST_STEP, SMALLEST_PENALTY = 0.5, 0.01, 1e-9

# The path ends when PATIENCE successive penalties have not improved on the best score by LEAST_GAIN nats per cell.
PATIENCE, LEAST_GAIN = 2, 1e-3

# Tolerance of the modes on the path, in units of λ, and the maximum number of steps for each.
TOLERANCE, MOST_STEPS = 0.05, 300

# Noise below this fraction of the values' root mean square (with effects: of their standard deviation) is
# indistinguishable from none.
SMALLEST_NOISE = 1e-6


class Trial(NamedTuple):
    """A penalty λσ², the rank of its mode, and −log p per cell at unit noise (half the MSE if there is noise)."""

    penalty: float
    rank: int
    training: float
    held_out: float


class Choice(NamedTuple):
    """The chosen penalty λσ² and noise σ, a point near their mode, and all trials of the path."""

    penalty: float
    sigma: float
    point: Point
    trials: tuple[Trial, ...]
    weakest: Trial  # the smallest penalty whose held-out score is within one standard error of the best


class _HeldOutEvaluation(NamedTuple):
    """The training cells, the held-out cells, and the parameters that are known; a single cell serves as both."""

    training: Objective
    held_out: Objective
    sigma: float | None
    rate: float | None
    floor: float

    def noise(self, trial: Trial) -> float:
        """Return σ: the root mean square error on the held-out cells, unless σ is known."""
        return max(float(np.sqrt(2.0 * trial.held_out)), self.floor) if self.sigma is None else self.sigma

    def score(self, trial: Trial) -> float:
        """Return −log p of the held-out cells, in nats per cell up to a constant; at the best σ if σ is unknown."""
        return float(np.log(self.noise(trial))) if self.sigma is None else trial.held_out / self.sigma**2

    def evaluate(self, penalty: float, point: Point) -> Trial:
        """Return the losses of the mode under a penalty."""
        return Trial(penalty, point.rank, self.training.loss(point), self.held_out.loss(point))


def noise_floor(observations: Observations, likelihood: Likelihood, *, effects: bool) -> float:
    """Return the smallest σ that is distinguishable from zero."""
    values = likelihood.encode(observations.by_row.values)
    return SMALLEST_NOISE * float(np.sqrt(positive_square(variance_of(values) if effects else 0.0, values)))


def choose_penalty(
    rng: Generator,
    observations: Observations,
    likelihood: Likelihood,
    effects: EffectPrecisions | None,
    *,
    rank: int | None = None,
    sigma: float | None = None,
    rate: float | None = None,
    most_steps: int = MOST_STEPS,
) -> Choice:
    """Return a penalty λσ² and σ; λ or σ may be known.

    The penalty is the one with the smallest error on the held-out cells, a tenth of all, and σ is that error.  If λ is
    known, the penalty is the one consistent with it: λ times the squared error.  A likelihood without noise has σ = 1.
    """
    evaluation = _hold_out(rng, observations, likelihood, effects, sigma, rate)
    point = solve(evaluation.training, rank=0, tolerance=TOLERANCE, start=evaluation.training.origin).point
    penalty = _first_penalty(evaluation, point)
    trials, points = [evaluation.evaluate(penalty, point)], [point]
    step = STEP
    while not _is_over(evaluation, trials):
        penalty *= step
        noise = evaluation.noise(trials[-1])
        objective = evaluation.training.under(Prior(penalty / noise**2, noise**-2, effects))
        point = solve(objective, rank=rank, tolerance=TOLERANCE, start=point, most_steps=most_steps).point
        trials.append(evaluation.evaluate(penalty, point))
        points.append(point)
        step = max(step**2, SMALLEST_STEP) if _falls_with_penalty(evaluation, *trials[-2:]) else STEP
    return _chosen(evaluation, trials, points)


def _hold_out(
    rng: Generator,
    observations: Observations,
    likelihood: Likelihood,
    effects: EffectPrecisions | None,
    sigma: float | None,
    rate: float | None,
) -> _HeldOutEvaluation:
    """Split the cells at random into training and held-out cells."""
    floor = noise_floor(observations, likelihood, effects=effects is not None)
    if not likelihood.has_noise:
        sigma = 1.0
    spread = float(np.std(likelihood.encode(observations.by_row.values)))
    noise = max(spread, floor) if sigma is None else sigma
    parts = (observations, observations)
    if observations.size > 1:
        parts = observations.split(rng, max(HELD_OUT, 1.0 / observations.size))
    training, held_out = (Objective.of(part, likelihood, Prior(1.0, noise**-2, effects)) for part in parts)
    return _HeldOutEvaluation(training, held_out, sigma, rate, floor)


def _first_penalty(evaluation: _HeldOutEvaluation, point: Point) -> float:
    """Return the smallest penalty for which L = 0 given these effects: the norm of the slopes, at unit noise."""
    norm = leading_triples(evaluation.training.slopes(point), point.U, point.V, 1).norm
    return max(norm / evaluation.training.prior.precision, evaluation.floor)


def _is_over(evaluation: _HeldOutEvaluation, trials: list[Trial]) -> bool:
    last = trials[-1]
    if evaluation.rate is not None and last.penalty <= evaluation.rate * evaluation.noise(last) ** 2:
        return True
    if last.penalty <= SMALLEST_PENALTY * trials[0].penalty or evaluation.noise(last) == evaluation.floor:
        return True
    scores = [evaluation.score(trial) for trial in trials]
    has_gained = len(scores) <= PATIENCE or min(scores[-PATIENCE:]) <= min(scores[:-PATIENCE]) - LEAST_GAIN
    return evaluation.rate is None and not has_gained


def _falls_with_penalty(evaluation: _HeldOutEvaluation, before: Trial, last: Trial) -> bool:
    """Return whether the error has fallen in proportion to the penalty, within a factor of √2."""
    expected = before.held_out * (last.penalty / before.penalty) ** 2
    return evaluation.training.likelihood.has_noise and last.held_out <= 2.0 * expected


def _chosen(evaluation: _HeldOutEvaluation, trials: list[Trial], points: list[Point]) -> Choice:
    scores = np.array([evaluation.score(trial) for trial in trials])
    best = int(np.argmin(scores)) if evaluation.rate is None else len(trials) - 1
    penalty = trials[best].penalty
    if evaluation.rate is None and 0 < best < len(trials) - 1:
        around = slice(best - 1, best + 2)
        penalty = _vertex([trial.penalty for trial in trials[around]], scores[around])
    # −log p of a Gaussian cell is ½z² plus a constant, and its variance is ½.
    error = np.sqrt(0.5 / evaluation.held_out.size)
    weakest = trials[int(np.flatnonzero(scores <= scores[best] + error)[-1])]
    return Choice(penalty, evaluation.noise(trials[best]), points[best], tuple(trials), weakest)


def _vertex(penalties: list[float], scores: Vector) -> float:
    """Return the penalty at the vertex of the parabola through three scores, the middle one the lowest."""
    logs = np.log(penalties)
    # Divided differences about the middle: the bend of three equal scores is exactly zero, whatever the rounding.
    before, after = (logs[k] - logs[1] for k in (0, 2))
    slope_before, slope_after = (scores[0] - scores[1]) / before, (scores[2] - scores[1]) / after
    bend = (slope_before - slope_after) / (before - after)
    if bend <= 0.0:
        return penalties[1]
    slope = slope_before - bend * before
    return float(np.exp(np.clip(logs[1] - slope / (2.0 * bend), logs[2], logs[0])))
