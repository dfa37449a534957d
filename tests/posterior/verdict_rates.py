"""How often the verdict is green: on chains that are healthy, and on chains with a fault that must be noticed.

Chains are AR(1) series of correlated quantities.  ``python -m tests.posterior.verdict_rates`` prints the shares for
several settings: of runs that are judged once, at a fixed length, and of runs with ``draws="auto"``, which are judged
again and again until they are green or as long as allowed.
"""

import argparse
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from scipy.signal import lfilter

from manifill.base.arrays import Array, Generator
from manifill.posterior import Colour, UseVerdict
from manifill.posterior.chain_agreement import agreement, needed_ess, safe_ess
from manifill.posterior.use_verdict import NEEDED_TAIL_ESS, judge
from manifill.run.draw_rule import AutoDraws
from tests.posterior.fast_sizes import fast_sizes, fast_summaries

RULE = AutoDraws(max_draws=4000, max_minutes=None)  # the default


class Fault(Enum):
    """What is wrong with one chain, in one quantity."""

    NONE = "healthy"
    DISPLACED = "displaced"  # by half a standard deviation
    STUCK = "stuck"  # close to where it started


class Setting(NamedTuple):
    """Chains to simulate."""

    quantities: int
    correlation: float  # between successive draws
    fault: Fault = Fault.NONE
    chains: int = 4
    others: int = 0  # quantities of a second verdict, which must be green too
    shared: float = 0.5  # the share of the innovations' variance that all quantities have in common
    skewed: bool = False  # quantities are log-normal instead of normal
    one_slow: bool = False  # only the first quantity is correlated

    @property
    def draws(self) -> int:
        """The draws per chain of a run of a fixed length: just those at which it should be green."""
        most = max(self.quantities, self.others)
        return self.draws_for(safe_ess(needed_ess(most, self.chains), most))

    def draws_for(self, size: float) -> int:
        """Return the draws per chain at which the effective size of all chains together is this."""
        per_effective = (1.0 + self.correlation) / (1.0 - self.correlation)
        return int(np.ceil(size * per_effective / self.chains))

    @property
    def rule(self) -> AutoDraws:
        """The default, with a larger limit if the run could not be green otherwise."""
        return RULE._replace(max_draws=max(RULE.max_draws, 2 * self.draws))


HEALTHY = (
    Setting(20, 0.0),
    Setting(20, 0.5),
    Setting(20, 0.8),
    Setting(60, 0.5),
    Setting(60, 0.0, skewed=True),
    Setting(60, 0.0, chains=2),
    Setting(60, 0.0, chains=8),
    Setting(200, 0.0),
    Setting(200, 0.0, shared=0.0),
    Setting(90, 0.0, others=40),
)

FAULTY = (
    Setting(20, 0.0),
    Setting(20, 0.5),
    Setting(20, 0.8),
    Setting(60, 0.5),
    Setting(60, 0.5, skewed=True),
    Setting(60, 0.5, chains=2),
    Setting(60, 0.5, chains=8),
    Setting(200, 0.0),
    Setting(200, 0.5),
)

# Runs that are a third as long as they should be.
SHORT = (
    Setting(20, 0.5),
    Setting(20, 0.5, one_slow=True),
    Setting(20, 0.8, one_slow=True),
    Setting(200, 0.0),
)


def simulated(rng: Generator, setting: Setting, draws: int) -> dict[str, Array]:
    """Return stationary series, (chain, draw) each, with unit variance if they are not skewed."""
    shape = setting.quantities + setting.others, setting.chains, draws
    shared = setting.shared
    noise = np.sqrt(1.0 - shared) * rng.normal(size=shape) + np.sqrt(shared) * rng.normal(size=(1, *shape[1:]))
    slow = slice(0, 1 if setting.one_slow else None)
    noise[slow, :, 1:] *= np.sqrt(1.0 - setting.correlation**2)
    values = noise
    values[slow] = lfilter([1.0], [1.0, -setting.correlation], noise[slow], axis=-1)
    if setting.fault is Fault.DISPLACED:
        values[0, 1] += 0.5
    elif setting.fault is Fault.STUCK:
        values[0, 1] = values[0, 1, 0] + 0.05 * (values[0, 1] - values[0, 1, 0])
    return {f"q{k}": each for k, each in enumerate(np.exp(values) if setting.skewed else values)}


class Greens(NamedTuple):
    """How many runs are green at the fixed length, and at the end of ``draws="auto"``."""

    fixed: int
    auto: int


def count_green(setting: Setting, runs: int, seed: int = 0) -> Greens:
    """Return how many of so many simulated runs are green."""
    rng = np.random.default_rng(seed)
    with patch("manifill.posterior.use_verdict.summaries", fast_summaries):
        found = [_green(simulated(rng, setting, setting.rule.max_draws), setting) for _ in range(runs)]
    return Greens(*np.sum(found, axis=0, dtype=int).tolist())


def _green(series: dict[str, Array], setting: Setting) -> tuple[bool, bool]:
    return _are_green(_judged(series, setting, setting.draws)), _ends_green(series, setting)


def _ends_green(series: dict[str, Array], setting: Setting) -> bool:
    """Return whether a run is green at one of the looks, the last of which is at the largest number of draws."""
    rule = setting.rule
    goal = rule.first_goal
    while True:
        found = _judged(series, setting, goal)
        if _are_green(found) or goal == rule.max_draws:
            return _are_green(found)
        goal = rule.next_goal(goal, max(each.needed_draws for each in found))


def _judged(series: dict[str, Array], setting: Setting, draws: int) -> list[UseVerdict]:
    begun = [(name, values[:, :draws]) for name, values in series.items()]
    uses = {"predictions": begun[: setting.quantities], "global quantities": begun[setting.quantities :]}
    return [judge(use, dict(judged)) for use, judged in uses.items() if judged]


def _are_green(found: list[UseVerdict]) -> bool:
    return all(each.colour == Colour.GREEN for each in found)


def count_green_as_advised(setting: Setting, runs: int, seed: int = 0) -> int:
    """Return how many runs are green with the draws that the verdict on a run with a third of them recommends."""
    rng = np.random.default_rng(seed)
    green = 0
    with patch("manifill.posterior.use_verdict.summaries", fast_summaries):
        for _ in range(runs):
            short = setting.draws // 3
            first = _judged(simulated(rng, setting, short), setting, short)[0]
            advised = first.advised_draws
            green += _are_green(_judged(simulated(rng, setting, advised), setting, advised))
    return green


def count_unnoticed(setting: Setting, runs: int, seed: int = 0) -> Greens:
    """Return how many runs could be green as far as the faulty quantity is concerned.

    Others can only add reasons against it, so they are not simulated, but they count for the thresholds.  There are
    as many looks as the rule allows, each a quarter later than the one before: with fewer, fewer are missed.
    """
    rng = np.random.default_rng(seed)
    alone = setting._replace(quantities=1)
    values = np.stack([simulated(rng, alone, setting.rule.max_draws)["q0"] for _ in range(runs)])
    looks = [_unnoticed(values[..., :goal], setting) for goal in _all_goals(setting.rule)]
    return Greens(int(_unnoticed(values[..., : setting.draws], setting).sum()), int(np.any(looks, axis=0).sum()))


def _all_goals(rule: AutoDraws) -> Iterator[int]:
    goal = rule.first_goal
    while goal < rule.max_draws:
        yield goal
        goal = rule.next_goal(goal, 0)
    yield goal


def _unnoticed(values: Array, setting: Setting) -> Array:
    """Whether the chains of a quantity agree and are long enough, (runs,)."""
    bulk, tail = fast_sizes(values)
    agrees = agreement(values, setting.quantities).excess <= 1.0
    return agrees & (bulk >= needed_ess(setting.quantities, setting.chains)) & (tail >= NEEDED_TAIL_ESS)


def row(setting: Setting, runs: int, seed: int) -> str:
    """Return a row of the table: the shares of runs that are not green."""
    count = count_green if setting.fault is Fault.NONE else count_unnoticed
    shares = " | ".join(f"{100.0 - 100.0 * green / runs:.1f} %" for green in count(setting, runs, seed))
    return f"| {_described(setting)} | {setting.draws} | {setting.fault.value} | {shares} |"


def _described(setting: Setting) -> str:
    """Return the columns of a table that say what is simulated."""
    both = f" and {setting.others}" if setting.others else ""
    remarks = {
        "independent": not setting.shared,
        f"shared {setting.shared}": setting.shared not in (0.0, 0.5),
        "log-normal": setting.skewed,
        "one is slow": setting.one_slow,
    }
    which = "".join(f", {text}" for text, holds in remarks.items() if holds)
    return f"{setting.quantities}{both}{which} | {setting.chains} | {setting.correlation}"


def main() -> None:
    """Print the tables of docs/math.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    runs, seed = arguments.runs, arguments.seed
    print("| quantities | chains | correlation | draws per chain | one chain is | fixed length | repeated looks |")
    print("|---|---|---|---|---|---|---|")
    for fault in Fault:
        for setting in HEALTHY if fault is Fault.NONE else FAULTY:
            print(row(setting._replace(fault=fault), runs, seed), flush=True)
    print("\n| quantities | chains | correlation | green with the recommended draws |")
    print("|---|---|---|---|")
    for setting in SHORT:
        share = count_green_as_advised(setting, runs, seed) / runs
        print(f"| {_described(setting)} | {share:.1%} |".replace("%", " %"), flush=True)


if __name__ == "__main__":
    main()
