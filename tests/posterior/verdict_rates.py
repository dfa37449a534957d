"""How often the verdict is green: on chains that are healthy, and on chains with a fault that must be noticed.

Chains are AR(1) series of correlated quantities.  ``python -m tests.posterior.verdict_rates`` prints the shares for
many settings, each judged once at a fixed length, and judged again and again until it is green or as long as allowed.
"""

import argparse
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from manifill.base.arrays import Array, Generator
from manifill.posterior import Colour
from manifill.posterior.chain_agreement import needed_ess
from manifill.posterior.use_verdict import judge

CHAINS = 4

# Effective sizes as multiples of the needed one: of a healthy run of a fixed length, and of the looks at a longer run.
FIXED, FIRST_LOOK, GROWTH, LAST_LOOK = 1.5, 0.8, 1.25, 2.0

# Quantities, correlation of successive draws, and the runs to simulate: fewer where they take long.
RUNS = ((20, 0.0, 150), (20, 0.5, 150), (60, 0.5, 60), (200, 0.0, 60), (20, 0.8, 60))

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


def green_once(rng: Generator, setting: Setting, multiple: float = FIXED) -> bool:
    """Whether a run of a fixed length is green."""
    return judge("predictions", simulated(rng, setting, setting.draws_for(multiple))).colour == Colour.GREEN


def green_at_some_look(rng: Generator, setting: Setting) -> bool:
    """Whether a run is green at any of the looks, which grow until the limit."""
    series = simulated(rng, setting, setting.draws_for(LAST_LOOK))
    return any(
        judge("predictions", {name: values[:, :draws] for name, values in series.items()}).colour == Colour.GREEN
        for draws in _looks(setting)
    )


def _looks(setting: Setting) -> Iterator[int]:
    multiple = FIRST_LOOK
    while multiple < LAST_LOOK:
        yield setting.draws_for(multiple)
        multiple *= GROWTH
    yield setting.draws_for(LAST_LOOK)


def count_green(setting: Setting, runs: int, *, looks: bool, seed: int = 0) -> int:
    """Return how many of so many simulated runs are green."""
    rng = np.random.default_rng(seed)
    judged = green_at_some_look if looks else green_once
    return sum(judged(rng, setting) for _ in range(runs))


def row(setting: Setting, runs: int) -> str:
    """Return a row of the table: the shares of runs that are not green."""
    shares = (100.0 - 100.0 * count_green(setting, runs, looks=looks) / runs for looks in (False, True))
    size = f"{setting.quantities} | {setting.correlation} | {setting.draws_for(FIXED)} | {setting.fault.value}"
    return f"| {size} | {runs} | {' | '.join(f'{share:.1f} %' for share in shares)} |"


def main() -> None:
    """Print the table of docs/math.md, or one with more runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=1, help="this many times as many runs")
    times = parser.parse_args().times
    print("| quantities | correlation | draws per chain | chains | runs | fixed length | repeated looks |")
    print("|---|---|---|---|---|---|---|")
    for quantities, correlation, runs in RUNS:
        for fault in Fault:
            print(row(Setting(quantities, correlation, fault), times * runs), flush=True)


if __name__ == "__main__":
    main()
