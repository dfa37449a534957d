"""What the parts of the default sampler are worth, each taken out in turn: ``make bench-ablation``.

One thread; the default model, or with ``--no-effects`` the paper's.  ESS is the 5 % quantile and the median over 60
held-out cells, R-hat the worst of cells, sorted singular values of the completed matrix, σ and the log density.
"""

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
from samplers import Problem, Size, problems, run_ours
from threadpoolctl import threadpool_limits

from manifill.compiled import compiled
from manifill.geometry import LowRank
from manifill.problem import Model, Observations
from manifill.sampling.block import Block
from manifill.sampling.exchange import exchange_effects
from manifill.sampling.integrators import Leapfrog, TwoStage
from manifill.sampling.joint import Joint, JointTuning, rotate_components
from manifill.sampling.scales import rescale_effects
from manifill.types import Vector


class TreesInX(Joint):
    """Trees in warm-up and after it, which end when the completed matrix turns."""

    def freeze(self, tuning: JointTuning) -> JointTuning:
        return super().freeze(tuning)._replace(lengths=None)


class TurningEverywhere(Joint):
    """All cells of the matrix alike in the turning rule of warm-up, however few are observed in their row or column."""

    def __init__(self, model: Model, train: Observations, warmup: int) -> None:
        super().__init__(model, train, warmup=warmup)
        m, n = train.shape
        self._manifold.set_weights(np.ones(m), np.ones(n))


class TurningInFactors(LowRank):
    """The same manifold with the turning rule of its own space."""

    @compiled
    def has_turned(self, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> bool:
        """⟨q₁ − q₀, q̇⟩ ≤ 0 at either end, by mass."""
        r, v = self.left.columns, (self.left.rows + self.right.rows) * self.left.columns
        at_first, at_last = 0.0, 0.0
        for k in range(first.size):
            if k < v:
                mass = self.left.masses[k % r] if k < self.left.rows * r else self.right.masses[k % r]
            else:
                mass = self.masses[k - v]
            change = mass * (last[k] - first[k])
            at_first += change * first_velocity[k]
            at_last += change * last_velocity[k]
        return at_first <= 0.0 or at_last <= 0.0


class TreesInFactors(TreesInX):
    """Trees that end when the factors turn, as NUTS has them."""

    def __init__(self, model: Model, train: Observations, warmup: int) -> None:
        super().__init__(model, train, warmup=warmup)
        self._manifold = TurningInFactors(*self._manifold)
        self._block = Block.on(self._manifold, TwoStage(), self._block.max_depth)


class Leapfrogs(Joint):
    """With one stage a step."""

    def __init__(self, model: Model, train: Observations, warmup: int) -> None:
        super().__init__(model, train, warmup=warmup)
        self._block = Block.on(self._manifold, Leapfrog(), self._block.max_depth)


class StagesForGaussians(Joint):
    """With the two stages of Blanes, Casas and Sanz-Serna (2014), best for Gaussian targets and long steps."""

    def __init__(self, model: Model, train: Observations, warmup: int) -> None:
        super().__init__(model, train, warmup=warmup)
        self._block = Block.on(self._manifold, TwoStage(outer_kick=0.21178), self._block.max_depth)


class NoRotations(Joint):
    """Without the rotation of neighbouring components."""

    slices = (rescale_effects, exchange_effects)


class NoScales(Joint):
    """Without the common scale of effects."""

    slices = (rotate_components, exchange_effects)


class NoExchange(Joint):
    """Without the exchange of effects and low-rank part."""

    slices = (rotate_components, rescale_effects)


KINDS: dict[str, Callable[..., Joint]] = {
    "all of it": Joint,
    "turning in all cells alike": TurningEverywhere,
    "trees, turning in X": TreesInX,
    "trees, turning in the factors": TreesInFactors,
    "leapfrog instead of two stages": Leapfrogs,
    "two stages for Gaussian targets": StagesForGaussians,
    "without rotations": NoRotations,
    "without scales of effects": NoScales,
    "without exchange": NoExchange,
}


def show(problem: Problem, size: Size, kinds: dict[str, Callable[..., Joint]], *, effects: bool) -> None:
    """Print a line for each kind of sampler."""
    print(f"\n{problem.name}")
    model = problem.model(effects=effects)
    for name, kind in kinds.items():
        f = run_ours(problem, partial(kind, model, problem.train, warmup=size.warmup), size).figures()
        print(
            f"  {name:31s} ESS/s {f['ess_per_second']:6.1f} ({f['ess_per_second_median']:6.1f})  "
            f"ESS/1000 gradients {f['ess_per_1000']:5.1f} ({f['ess_per_1000_median']:5.1f})  "
            f"gradients a draw {f['steps']:4.0f}  R-hat {f['rhat']:.3f} ({f['worst']})",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="case", help="problems whose names contain this")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--draws", type=int, default=300, help="and as many of warm-up")
    parser.add_argument("--kinds", default="", help="only kinds of the sampler whose names contain this")
    parser.add_argument("--no-effects", action="store_true", help="the paper's model")
    options = parser.parse_args()
    kinds = {name: kind for name, kind in KINDS.items() if options.kinds in name}
    with threadpool_limits(1):
        for problem in problems(quick=False):
            if options.rows in problem.name:
                size = Size(options.chains, options.draws, options.draws)
                show(problem, size, kinds, effects=not options.no_effects)


if __name__ == "__main__":
    main()
