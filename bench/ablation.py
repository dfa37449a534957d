"""The benefit of each component of the default sampler, removed in turn: ``make bench-ablation``.

One thread; the default model, or the paper's with ``--no-effects``.  ESS is the 5 % quantile and the median over 60
held-out cells.  R-hat is the worst over these cells, the sorted singular values of the completed matrix, σ and the log
density.
"""

import argparse
from functools import partial

from samplers import Problem, Size, problems, run_ours
from threadpoolctl import threadpool_limits

from manifill.base.arrays import Matrix, Vector
from manifill.base.jit import compiled
from manifill.geometry import LowRank
from manifill.sampling.component_rotation import rotate_components
from manifill.sampling.effect_exchange import exchange_effects
from manifill.sampling.effect_scale import rescale_effects
from manifill.sampling.integrators import Leapfrog, TwoStage
from manifill.sampling.joint_sampler import Joint, Parts
from manifill.unknowns import view

# The coefficient of Blanes, Casas and Sanz-Serna (2014), optimal for Gaussian targets and long steps.
GAUSSIAN_OUTER_KICK = 0.21178


@compiled
def has_turned_in_factors(
    manifold: LowRank, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector
) -> bool:
    """⟨q₁ − q₀, q̇⟩ ≤ 0 at either end, in the metric of the masses."""
    change = last - first
    at_first, at_last = _product(manifold, change, first_velocity), _product(manifold, change, last_velocity)
    return at_first <= 0.0 or at_last <= 0.0


@compiled
def _product(manifold: LowRank, change: Vector, velocity: Vector) -> float:
    """Return ⟨change, velocity⟩ in the metric of the masses."""
    by, speed = view(manifold.layout, change), view(manifold.layout, velocity)
    total = _factor_product(manifold.left.masses, by.U, speed.U) + _factor_product(manifold.right.masses, by.V, speed.V)
    for k in range(manifold.masses.size):
        total += manifold.masses[k] * by.rest[k] * speed.rest[k]
    return total


@compiled
def _factor_product(masses: Vector, change: Matrix, velocity: Matrix) -> float:
    """Return the same for one factor (n, r), whose columns have masses (r,)."""
    total = 0.0
    for i in range(change.shape[0]):
        for c in range(masses.size):
            total += masses[c] * change[i, c] * velocity[i, c]
    return total


KINDS: dict[str, Parts] = {
    "all of it": Parts(),
    "turning in all cells alike": Parts(turning_power=0.0),  # equal weights, however few cells a row or column has
    "trees, turning in X": Parts(learns_lengths=False),
    "trees, turning in the factors": Parts(has_turned=has_turned_in_factors, learns_lengths=False),
    "leapfrog instead of two stages": Parts(integrator=Leapfrog()),
    "two stages for Gaussian targets": Parts(integrator=TwoStage(outer_kick=GAUSSIAN_OUTER_KICK)),
    "without rotations": Parts(moves=(rescale_effects, exchange_effects)),
    "without scales of effects": Parts(moves=(rotate_components, exchange_effects)),
    "without exchange": Parts(moves=(rotate_components, rescale_effects)),
}


def show(problem: Problem, size: Size, kinds: dict[str, Parts], *, effects: bool) -> None:
    """Print a line for each variant of the sampler."""
    print(f"\n{problem.name}")
    model = problem.model(effects=effects)
    for name, parts in kinds.items():
        build = partial(Joint, model, problem.train, warmup=size.warmup, parts=parts)
        f = run_ours(problem, build, size).figures()
        print(
            f"  {name:31s} ESS/s {f['ess_per_second']:6.1f} ({f['ess_per_second_median']:6.1f})  "
            f"ESS/1000 gradients {f['ess_per_1000']:5.1f} ({f['ess_per_1000_median']:5.1f})  "
            f"gradients per draw {f['steps']:4.0f}  R-hat {f['rhat']:.3f} ({f['worst']})",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="case", help="only problems whose names contain this")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--draws", type=int, default=300, help="number of draws, and of iterations of warm-up")
    parser.add_argument("--kinds", default="", help="only variants whose names contain this")
    parser.add_argument("--no-effects", action="store_true", help="the paper's model")
    options = parser.parse_args()
    kinds = {name: parts for name, parts in KINDS.items() if options.kinds in name}
    with threadpool_limits(1):
        for problem in problems(quick=False):
            if options.rows in problem.name:
                size = Size(options.chains, options.draws, options.draws)
                show(problem, size, kinds, effects=not options.no_effects)


if __name__ == "__main__":
    main()
