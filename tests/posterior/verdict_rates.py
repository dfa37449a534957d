"""How often the verdict is green: on chains that are healthy, and on chains with a fault that must be noticed.

Chains are AR(1) series of correlated quantities.  ``python -m tests.posterior.verdict_rates`` prints the shares for
several settings: of runs that are judged once, at a fixed length, and of runs with ``draws="auto"``, which are judged
again and again until they are green or as long as allowed.
"""

import argparse
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from manifill.base.arrays import Array, Generator
from manifill.posterior import Colour, UseVerdict
from manifill.posterior.chain_agreement import agreement, needed_ess
from manifill.posterior.quantities import summaries
from manifill.posterior.use_verdict import NEEDED_TAIL_ESS, judge
from manifill.run.draw_rule import AutoDraws

CHAINS = 4

FIXED = 1.5  # the effective size of a run of a fixed length, as a multiple of the needed one

RULE = AutoDraws(max_draws=4000, max_minutes=None)  # the default

# Quantities and correlation of successive draws.
SETTINGS = ((20, 0.0), (20, 0.5), (20, 0.8), (60, 0.5), (200, 0.0))

SHARED = 0.5  # the share of the innovations' variance that all quantities have in common


class Fault(Enum):
    """What is wrong with one chain, in one quantity."""

    NONE = "healthy"
    DISPLACED = "displaced"  # by half a standard deviation
    STUCK = "stuck"  # close to where it started


class Setting(NamedTuple):
    """Chains to simulate."""

    quantities: int
    correlation: float  # between successive draws
    fault: Fault

    def draws_for(self, multiple: float) -> int:
        """Return the draws per chain at which the effective size is this multiple of the needed one."""
        per_effective = (1.0 + self.correlation) / (1.0 - self.correlation)
        return int(np.ceil(multiple * needed_ess(self.quantities, CHAINS) * per_effective / CHAINS))


def simulated(rng: Generator, setting: Setting, draws: int) -> dict[str, Array]:
    """Return stationary series with unit variance, (chain, draw) each."""
    shape = setting.quantities, CHAINS, draws
    noise = np.sqrt(1.0 - SHARED) * rng.normal(size=shape) + np.sqrt(SHARED) * rng.normal(size=(1, *shape[1:]))
    noise[..., 1:] *= np.sqrt(1.0 - setting.correlation**2)
    values = lfilter([1.0], [1.0, -setting.correlation], noise, axis=-1)
    if setting.fault is Fault.DISPLACED:
        values[0, 1] += 0.5
    elif setting.fault is Fault.STUCK:
        values[0, 1] = values[0, 1, 0] + 0.05 * (values[0, 1] - values[0, 1, 0])
    return {f"q{k}": each for k, each in enumerate(values)}


class Greens(NamedTuple):
    """How many runs are green at the fixed length, and at the end of ``draws="auto"``."""

    fixed: int
    auto: int


def count_green(setting: Setting, runs: int, seed: int = 0) -> Greens:
    """Return how many of so many simulated runs are green."""
    rng = np.random.default_rng(seed)
    found = [_green(simulated(rng, setting, RULE.max_draws), setting) for _ in range(runs)]
    return Greens(*np.sum(found, axis=0, dtype=int).tolist())


def _green(series: dict[str, Array], setting: Setting) -> tuple[bool, bool]:
    return _judged(series, setting.draws_for(FIXED)).colour == Colour.GREEN, _ends_green(series)


def _ends_green(series: dict[str, Array]) -> bool:
    """Return whether a run is green at one of the looks, the last of which is at the largest number of draws."""
    goal = RULE.first_goal
    while True:
        found = _judged(series, goal)
        if found.colour == Colour.GREEN or goal == RULE.max_draws:
            return found.colour == Colour.GREEN
        goal = RULE.next_goal(goal, found.needed_draws)


def _judged(series: dict[str, Array], draws: int) -> UseVerdict:
    return judge("predictions", {name: values[:, :draws] for name, values in series.items()})


def count_unnoticed(setting: Setting, runs: int, seed: int = 0) -> Greens:
    """Return how many runs could be green as far as the faulty quantity is concerned.

    Others can only add reasons against it, so they are not simulated, but they count for the thresholds.  There are
    as many looks as the rule allows, each a quarter later than the one before: with fewer, fewer are missed.
    """
    rng = np.random.default_rng(seed)
    alone = setting._replace(quantities=1)
    values = np.stack([simulated(rng, alone, RULE.max_draws)["q0"] for _ in range(runs)])
    looks = [_unnoticed(values[..., :goal], setting) for goal in _all_goals()]
    return Greens(
        int(_unnoticed(values[..., : setting.draws_for(FIXED)], setting).sum()), int(np.any(looks, axis=0).sum())
    )


def _all_goals() -> Iterator[int]:
    goal = RULE.first_goal
    while goal < RULE.max_draws:
        yield goal
        goal = RULE.next_goal(goal, 0)
    yield goal


def _unnoticed(values: Array, setting: Setting) -> Array:
    """Whether the chains of a quantity agree and are long enough, (runs,)."""
    quantities = summaries({str(k): each for k, each in enumerate(values)})
    bulk, tail = (np.array([getattr(q, name) for q in quantities]) for name in ("ess_bulk", "ess_tail"))
    agrees = agreement(values, setting.quantities).excess <= 1.0
    return agrees & (bulk >= needed_ess(setting.quantities, CHAINS)) & (tail >= NEEDED_TAIL_ESS)


def row(setting: Setting, runs: int) -> str:
    """Return a row of the table: the shares of runs that are not green."""
    count = count_green if setting.fault is Fault.NONE else count_unnoticed
    shares = " | ".join(f"{100.0 - 100.0 * green / runs:.1f} %" for green in count(setting, runs))
    size = f"{setting.quantities} | {setting.correlation} | {setting.draws_for(FIXED)}"
    return f"| {size} | {setting.fault.value} | {shares} |"


def main() -> None:
    """Print the table of docs/math.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    print("| quantities | correlation | draws per chain | one chain is | fixed length | repeated looks |")
    print("|---|---|---|---|---|---|")
    for fault in Fault:
        for quantities, correlation in SETTINGS:
            print(row(Setting(quantities, correlation, fault), runs), flush=True)


if __name__ == "__main__":
    main()
