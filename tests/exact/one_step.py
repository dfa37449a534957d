"""A few steps of the default sampler from an exact draw of parameters and data: nothing may change on average.

Parameters come from the prior, data given them, and the sampler moves the parameters given the data.  Replicates are
independent, so errors are plain ones, and functions of components in their places may be compared, which a chain that
seldom exchanges them mixes too slowly for.  Masses differ from place to place, and steps are long, so that a quarter or
more of the trajectories are refused: a mistake in how places, signs or refusals are treated is a change of means.

The changes of a quantity have at most √2 times its own standard deviation, so that of 40,000 replicates a bias of 0.03
standard deviations is at least 4.2 standard errors.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.geometry import Masses
from manifill.sampling.dual_averaging import DualAveraging
from manifill.sampling.joint_sampler import JointTuning
from manifill.sampling.state import State
from manifill.sampling.trajectory_lengths import Lengths
from manifill.sampling.workers import quiet_worker_replacement
from tests.exact.prior import completed, draw_state, sigmas
from tests.exact.simulated import Case, data, prior_state, statistics

LARGEST_ACCEPTANCE = 0.85
SMALL_SQUARE = 1e-2  # added to squares before logarithms, which near zero would have long tails


class Kernel(NamedTuple):
    """What the sampler would learn in warm-up, given instead."""

    steps: int  # of the sampler
    step_size: float
    left: tuple[float, ...]  # masses of U's columns
    right: tuple[float, ...]
    s: tuple[float, ...]
    effects: float = 4.0

    def tuning(self, case: Case, rng: Generator, lengths: Lengths | None) -> JointTuning:
        """Return the frozen tuning; without lengths there are trees."""
        tuning: JointTuning = case.given(data(case, rng, prior_state(case, rng))).start(rng)[1]
        rest = np.full(tuning.masses.rest.size, self.effects)
        rest[: len(self.s)] = self.s
        step = DualAveraging.init(self.step_size, tuning.step.step_size + 10.0)
        masses = Masses(np.array(self.left), np.array(self.right), rest)
        return tuning._replace(step=step, masses=masses, warming=False, lengths=lengths)


def compared(case: Case, state: State, y: Vector) -> Vector:
    """Return all functions that are compared."""
    return np.concatenate([statistics(case, state, y), in_places(state), pivots(case, state, y)])


def in_places(state: State) -> Vector:
    """Return functions of the components in the order they have."""
    U, s, V = state.unknowns[:3]
    of_s = [*np.log(s), *np.log(s) ** 2, *(s[:-1] < s[1:]).astype(float)]
    return np.array([*of_s, *np.log(1e-3 + U[0] ** 2), *V.sum(axis=0) ** 2, *(U[0] * s * V[0])])


def pivots(case: Case, state: State, y: Vector) -> Vector:
    """Return logarithms of squares in units of the precisions or rates they were drawn with, and how levels go along.

    A precision that was drawn for other values than those it is returned with shows here first.
    """
    parts = [state.rate * state.unknowns.s.sum()]
    if case.likelihood.has_noise:
        rows, cols = case.table.cells
        sigma = sigmas(state, np.array(rows), np.array(cols))
        residual = (y - case.likelihood.mean(completed(state)[rows, cols])) / sigma
        parts.append(float(residual @ residual))
    if case.effects is None:
        return np.log(parts)
    effects, levels = state.unknowns.effects, []
    for values, precision in ((effects.row, effects.row_precision), (effects.column, effects.column_precision)):
        level, spread = values.size * values.mean() ** 2, float(np.sum((values - values.mean()) ** 2))
        parts += [precision * (level + spread), precision * level + SMALL_SQUARE, precision * spread]
        levels.append(np.log(level + SMALL_SQUARE) * np.log(spread / (values.size - 1)))
    return np.array([*np.log(parts), *levels])


def changes(
    case: Case, kernel: Kernel, rng: Generator, replicates: int, lengths: Lengths | None
) -> Iterator[tuple[Vector, float]]:
    """Yield what the steps change in each replicate, and their acceptance."""
    tuning = kernel.tuning(case, rng, lengths)
    for _ in range(replicates):
        state = draw_state(rng, case.model, case.table.shape)
        y = data(case, rng, state)
        before = compared(case, state, y)
        sampler, accepted = case.given(y), []
        for _ in range(kernel.steps):
            state, info = sampler.step(rng, state, tuning)
            accepted.append(info.transition.acceptance)
        yield compared(case, state, y) - before, float(np.mean(accepted))


def collected(
    case: Case, kernel: Kernel, rng: Generator, replicates: int, lengths: Lengths | None
) -> list[tuple[Vector, float]]:
    return list(changes(case, kernel, rng, replicates, lengths))


def z_scores(
    case: Case, kernel: Kernel, rng: Generator, replicates: int, lengths: Lengths | None, processes: int = 1
) -> Vector:
    """Return mean changes in standard errors."""
    children = [rng] if processes == 1 else rng.spawn(processes)
    share = replicates // len(children)
    with quiet_worker_replacement():
        run = Parallel(processes)(delayed(collected)(case, kernel, child, share, lengths) for child in children)
    found = [pair for part in run for pair in part]
    differences: Matrix = np.array([change for change, _ in found])
    assert np.mean([rate for _, rate in found]) < LARGEST_ACCEPTANCE, "steps are long"
    return np.asarray(differences.mean(axis=0) / (differences.std(axis=0) / np.sqrt(len(found))))
