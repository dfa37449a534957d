"""How often the verdict is green: on chains that are healthy, and on chains with a fault that must be noticed.

Chains are AR(1) series of correlated quantities.  ``python -m tests.posterior.verdict_rates`` prints the shares for
several settings: of runs that are judged once, at a fixed length, and of runs that are judged again and again until
they are green or as long as allowed.
"""

import argparse
from enum import Enum
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from manifill.base.arrays import Array, Generator
from manifill.posterior import Colour
from manifill.posterior.chain_agreement import agreement, needed_ess
from manifill.posterior.quantities import summaries
from manifill.posterior.use_verdict import NEEDED_TAIL_ESS, judge

CHAINS = 4

# Effective sizes of the looks at a run as multiples of the needed one; a run of a fixed length has one of them.
LOOKS, FIXED = (0.8, 1.0, 1.25, 1.5, 1.75, 2.0), 1.5

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
    """How many runs are green at the fixed length, and at one of the looks at least."""

    fixed: int
    looks: int


def count_green(setting: Setting, runs: int, seed: int = 0) -> Greens:
    """Return how many of so many simulated runs are green."""
    rng = np.random.default_rng(seed)
    found = [_green(simulated(rng, setting, setting.draws_for(LOOKS[-1])), setting) for _ in range(runs)]
    return Greens(*np.sum(found, axis=0, dtype=int).tolist())


def _green(series: dict[str, Array], setting: Setting) -> tuple[bool, bool]:
    def is_green(multiple: float) -> bool:
        cut = {name: values[:, : setting.draws_for(multiple)] for name, values in series.items()}
        return judge("predictions", cut).colour == Colour.GREEN

    fixed = is_green(FIXED)
    return fixed, fixed or any(is_green(multiple) for multiple in LOOKS if multiple != FIXED)


def count_unnoticed(setting: Setting, runs: int, seed: int = 0) -> Greens:
    """Return how many runs could be green as far as the faulty quantity is concerned.

    Others can only add reasons against it, so that they are not simulated, but they count for the thresholds.
    """
    rng = np.random.default_rng(seed)
    alone = setting._replace(quantities=1)
    draws = setting.draws_for(LOOKS[-1])
    values = np.stack([simulated(rng, alone, draws)["q0"] for _ in range(runs)])
    green = {multiple: _unnoticed(values[..., : setting.draws_for(multiple)], setting) for multiple in LOOKS}
    return Greens(int(green[FIXED].sum()), int(np.any(list(green.values()), axis=0).sum()))


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
