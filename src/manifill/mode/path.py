"""How strong the penalty should be: a path of weaker and weaker ones, judged on cells that were held out."""

from typing import NamedTuple

import numpy as np

from manifill.mode.objective import Objective
from manifill.mode.point import Point
from manifill.mode.prior import EffectPrecisions, Prior
from manifill.mode.solver import solve
from manifill.mode.spectrum import leading_triples
from manifill.problem import Likelihood, Observations
from manifill.problem.additive import positive_square, variance_of
from manifill.types import Generator, Vector

__all__ = ["Choice", "Trial", "choose_penalty", "noise_floor"]

# The share of the observed cells to judge by.
HELD_OUT = 0.1

# Each penalty is this share of the one before.  Where the error falls with the penalty, as it does without noise, the
# share is squared from one to the next, down to a smallest; and so down to a smallest penalty, in units of the first.
STEP, SMALLEST_STEP, SMALLEST_PENALTY = 0.5, 0.01, 1e-9

# The path ends when so many penalties in succession have not gained so much on the best, in nats a cell.
PATIENCE, LEAST_GAIN = 2, 1e-3

# How exact the path is, in units of λ, and the steps that a penalty may take.
TOLERANCE, MOST_STEPS = 0.05, 300

# Noise below this share of the data's size, or of their spread beside effects, is not told from none.
SMALLEST_NOISE = 1e-6


class Trial(NamedTuple):
    """A penalty λσ², the rank it leaves, and −log p a cell at unit noise: half a mean square, where there is noise."""

    penalty: float
    rank: int
    training: float
    held_out: float


class Choice(NamedTuple):
    """The penalty λσ² and noise σ that were chosen, a point near their mode, and all that was tried."""

    penalty: float
    sigma: float
    point: Point
    trials: tuple[Trial, ...]
    weakest: Trial  # of the least penalty that the cells held out do not speak against


class _Judge(NamedTuple):
    """The cells to learn from, those held out (a single cell is both), and what is known beforehand."""

    training: Objective
    held_out: Objective
    sigma: float | None
    rate: float | None
    floor: float

    def noise(self, trial: Trial) -> float:
        """Return σ: the root mean square error of the cells held out, unless it is known."""
        return max(float(np.sqrt(2.0 * trial.held_out)), self.floor) if self.sigma is None else self.sigma

    def score(self, trial: Trial) -> float:
        """Return −log p of the cells held out, in nats a cell and up to a constant; at the best σ, if it is unknown."""
        return float(np.log(self.noise(trial))) if self.sigma is None else trial.held_out / self.sigma**2

    def try_point(self, penalty: float, point: Point) -> Trial:
        """Return what the mode under a penalty is worth."""
        return Trial(penalty, point.rank, self.training.loss(point), self.held_out.loss(point))


def noise_floor(observations: Observations, likelihood: Likelihood, *, effects: bool) -> float:
    """Return the least σ that is told from none."""
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
    """Return a penalty λσ² and σ, with λ or σ known or neither.

    The penalty is the one with the least error on a tenth of the cells, and σ is that error.  If λ is known, it is the
    one that agrees with it: λ times the squared error.  A likelihood without noise has σ = 1.
    """
    judge = _appoint(rng, observations, likelihood, effects, sigma, rate)
    point = solve(judge.training, rank=0, tolerance=TOLERANCE, start=judge.training.origin).point
    penalty = _first_penalty(judge, point)
    trials, points = [judge.try_point(penalty, point)], [point]
    step = STEP
    while not _is_over(judge, trials):
        penalty *= step
        noise = judge.noise(trials[-1])
        objective = judge.training.under(Prior(penalty / noise**2, noise**-2, effects))
        point = solve(objective, rank=rank, tolerance=TOLERANCE, start=point, most_steps=most_steps).point
        trials.append(judge.try_point(penalty, point))
        points.append(point)
        step = max(step**2, SMALLEST_STEP) if _falls_with_penalty(judge, *trials[-2:]) else STEP
    return _chosen(judge, trials, points)


def _appoint(
    rng: Generator,
    observations: Observations,
    likelihood: Likelihood,
    effects: EffectPrecisions | None,
    sigma: float | None,
    rate: float | None,
) -> _Judge:
    floor = noise_floor(observations, likelihood, effects=effects is not None)
    if not likelihood.has_noise:
        sigma = 1.0
    spread = float(np.std(likelihood.encode(observations.by_row.values)))
    noise = max(spread, floor) if sigma is None else sigma
    parts = (observations, observations)
    if observations.size > 1:
        parts = observations.split(rng, max(HELD_OUT, 1.0 / observations.size))
    training, held_out = (Objective.of(part, likelihood, Prior(1.0, noise**-2, effects)) for part in parts)
    return _Judge(training, held_out, sigma, rate, floor)


def _first_penalty(judge: _Judge, point: Point) -> float:
    """Return the least penalty that leaves no L beside these effects: the norm of the slopes, at unit noise."""
    norm = leading_triples(judge.training.slopes(point), point.U, point.V, 1).norm
    return max(norm / judge.training.prior.precision, judge.floor)


def _is_over(judge: _Judge, trials: list[Trial]) -> bool:
    last = trials[-1]
    if judge.rate is not None and last.penalty <= judge.rate * judge.noise(last) ** 2:
        return True
    if last.penalty <= SMALLEST_PENALTY * trials[0].penalty or judge.noise(last) == judge.floor:
        return True
    scores = [judge.score(trial) for trial in trials]
    has_gained = len(scores) <= PATIENCE or min(scores[-PATIENCE:]) <= min(scores[:-PATIENCE]) - LEAST_GAIN
    return judge.rate is None and not has_gained


def _falls_with_penalty(judge: _Judge, before: Trial, last: Trial) -> bool:
    """Return whether the errors are as the penalties, within a factor of √2."""
    expected = before.held_out * (last.penalty / before.penalty) ** 2
    return judge.training.likelihood.has_noise and last.held_out <= 2.0 * expected


def _chosen(judge: _Judge, trials: list[Trial], points: list[Point]) -> Choice:
    scores = np.array([judge.score(trial) for trial in trials])
    best = int(np.argmin(scores)) if judge.rate is None else len(trials) - 1
    penalty = trials[best].penalty
    if judge.rate is None and 0 < best < len(trials) - 1:
        around = slice(best - 1, best + 2)
        penalty = _vertex([trial.penalty for trial in trials[around]], scores[around])
    # −log p of a Gaussian cell is ½z² and a constant, of variance ½.
    error = np.sqrt(0.5 / judge.held_out.size)
    weakest = trials[int(np.flatnonzero(scores <= scores[best] + error)[-1])]
    return Choice(penalty, judge.noise(trials[best]), points[best], tuple(trials), weakest)


def _vertex(penalties: list[float], scores: Vector) -> float:
    """Return the penalty at the vertex of the parabola through three scores, the one in the middle the lowest."""
    logs = np.log(penalties)
    # Divided differences about the middle: three equal scores have a bend of zero, whatever the machine rounds.
    before, after = (logs[k] - logs[1] for k in (0, 2))
    slope_before, slope_after = (scores[0] - scores[1]) / before, (scores[2] - scores[1]) / after
    bend = (slope_before - slope_after) / (before - after)
    if bend <= 0.0:
        return penalties[1]
    slope = slope_before - bend * before
    return float(np.exp(np.clip(logs[1] - slope / (2.0 * bend), logs[2], logs[0])))
