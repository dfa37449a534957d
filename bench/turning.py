"""What the turning rule and learned lengths are worth: ``make bench-turning``.

The default sampler three times: with trees after warm-up that end when the factors turn, as NUTS does in its own space;
with trees that end when the completed matrix turns; and with the lengths that these have taught it.  One thread; the
5 % quantile and the median over 60 held-out cells of the effective sample size.
"""

import argparse

import numpy as np
from samplers import problems, run_ours
from threadpoolctl import threadpool_limits

from manifill.compiled import compiled
from manifill.geometry import LowRank
from manifill.problem import Model, Observations
from manifill.sampling.block import Block
from manifill.sampling.integrators import TwoStage
from manifill.sampling.joint import Joint, JointTuning
from manifill.types import Vector


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


class TreesOnly(Joint):
    """Trees in warm-up and after it."""

    def freeze(self, tuning: JointTuning) -> JointTuning:
        return super().freeze(tuning)._replace(lengths=None)


class TreesInFactors(TreesOnly):
    """Trees that end when the factors turn."""

    def __init__(self, model: Model, train: Observations, warmup: int) -> None:
        super().__init__(model, train, warmup=warmup)
        self._manifold = TurningInFactors(*self._manifold)
        self._block = Block.on(self._manifold, TwoStage(), self._block.max_depth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="40 %, noise 1", help="problems whose names contain this")
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--draws", type=int, default=500)
    options = parser.parse_args()
    warmup = options.draws
    with threadpool_limits(1):
        for problem in problems(quick=True):
            if options.rows not in problem.name:
                continue
            print(problem.name)
            kinds = {
                "trees, turning in the factors": lambda p=problem: TreesInFactors(p.model(), p.train, warmup=warmup),
                "trees, turning in X": lambda p=problem: TreesOnly(p.model(), p.train, warmup=warmup),
                "learned lengths": lambda p=problem: Joint(p.model(), p.train, warmup=warmup),
            }
            for name, build in kinds.items():
                f = run_ours(problem, build, options.chains, warmup, options.draws).figures()
                print(
                    f"  {name:30s} ESS/s {f['ess_per_second']:6.1f} ({f['ess_per_second_median']:6.1f})  "
                    f"ESS/1000 gradients {f['ess_per_1000']:5.1f} ({f['ess_per_1000_median']:5.1f})  "
                    f"gradients a draw {f['steps']:4.0f}  R-hat {np.round(f['rhat'], 3)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
