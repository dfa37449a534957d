"""Whether the draws suffice for one use of them: green, amber or red, with reasons and remedies."""

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from manifill.base.argument_words import Argument, Wording, strung
from manifill.base.arrays import Array
from manifill.base.wording import counted
from manifill.posterior.chain_agreement import RELEVANT, Agreement, agreement, needed_ess, safe_ess
from manifill.posterior.quantities import Quantity, summaries

__all__ = ["Colour", "Reason", "UseVerdict", "judge"]

# The Monte Carlo error of the bounds of a 90 % interval is then a tenth of a posterior standard deviation:
# √(0.05 · 0.95 / 450) divided by the normal density at the bounds, 0.103.
NEEDED_TAIL_ESS = 450.0

# With fewer effective draws the Monte Carlo error of a mean is above a tenth of a posterior standard deviation.
AMBER_ESS = 100.0

# With fewer effective draws per chain, chains have hardly begun to agree, and how many draws would do is unknown.
UNKNOWN_ESS = 5.0

SMALLEST_DRAWS = 8  # the least for which a quarter of a chain has a variance
MARGIN = 1.2  # of the draws at which to look again, since effective sample sizes are estimates


class Colour(StrEnum):
    """Green: use it.  Amber: for a first impression.  Red: another run could give different results."""

    GREEN = "green"
    AMBER = "amber"
    RED = "red"


class Reason(NamedTuple):
    """Why a verdict is not green, in a clause that ends with a remedy in brackets."""

    colour: Colour
    text: Wording


class MoreDraws(NamedTuple):
    """Draws per chain with which effective sample sizes would suffice."""

    needed: int
    advised: int


class UseVerdict(NamedTuple):
    """The verdict on one use of the draws, and the quantities that it is based on."""

    use: str  # "predictions" or "global quantities"
    colour: Colour
    reasons: tuple[Wording, ...]  # the worst first; none if green
    quantities: tuple[Quantity, ...]
    needed_draws: int  # per chain: an estimate of how many make the effective sample sizes large enough
    advised_draws: int  # per chain: as many as make a run green that is not judged again

    @property
    def sentence(self) -> Wording:
        """The verdict in one sentence."""
        head = f"{self.use.capitalize()} are {self.colour}: "
        if self.reasons:
            return Wording(head, *strung(self.reasons), ".")
        bulk, tail = (min(getattr(q, name) for q in self.quantities) for name in ("ess_bulk", "ess_tail"))
        return Wording(
            f"{head}the chains agree in all {len(self.quantities)} quantities compared, and the effective sample "
            f"size is at least {bulk:.0f} (bulk) and {tail:.0f} (tail)."
        )


def judge(
    use: str, series: Mapping[str, Array], others: tuple[Reason, ...] = (), averages: Collection[str] = ()
) -> UseVerdict:
    """Judge the draws by these series, (chain, draw) each, and by ``others``, reasons that are known already.

    Of the series whose names are in ``averages`` only the mean matters.
    The verdict is about the draws so far and does not depend on how often they have been judged before: to look again
    and again until it is green makes false alarms rarer, and a chain that is displaced is then missed no more often,
    since no look is green before the effective sample sizes suffice to notice it.
    """
    quantities = summaries(series, averages)
    chains, draws = next(iter(series.values())).shape
    if draws < SMALLEST_DRAWS:
        faults, more = [_too_few(draws)], MoreDraws(SMALLEST_DRAWS, SMALLEST_DRAWS)
    else:
        moving, faults = _moving(series)
        known = [q for q in quantities if q.name in moving]
        more = MoreDraws(draws, draws)
        if known:
            averaged = np.array([name in averages for name in moving])
            apart = agreement(np.stack(list(moving.values())), len(series), averaged)
            faults += _disagreement(list(moving), apart)
            low, more = _low_ess(known, chains, draws, len(series))
            faults += low
    found = sorted([*faults, *others], key=lambda reason: reason.colour != Colour.RED)
    colour = found[0].colour if found else Colour.GREEN
    return UseVerdict(use, colour, tuple(reason.text for reason in found), quantities, *more)


def _too_few(draws: int) -> Reason:
    verb = "is" if draws == 1 else "are"
    text = Wording(f"{counted(draws, 'draw')} per chain {verb} too few to judge (take more ", Argument("draws"), ")")
    return Reason(Colour.RED, text)


def _moving(series: Mapping[str, Array]) -> tuple[dict[str, Array], list[Reason]]:
    """Return the series that are finite and change in every chain, and reasons about the others."""
    broken = [name for name, values in series.items() if not np.isfinite(values).all()]
    still = {
        name: np.flatnonzero(np.ptp(values, axis=1) == 0.0) for name, values in series.items() if name not in broken
    }
    stuck = [name for name, chains in still.items() if chains.size]
    faults = []
    if broken:
        faults.append(Reason(Colour.RED, Wording(f"{_listed(broken)} had draws that are not finite (check the data)")))
    if stuck:
        which = still[stuck[0]]
        every = which.size == len(series[stuck[0]])
        who = "" if every else f" in {'chains' if which.size > 1 else 'chain'} {', '.join(str(c + 1) for c in which)}"
        remedy = Wording(" (take more ", Argument("warmup"), ", or check the scale of the data)")
        faults.append(Reason(Colour.RED, Wording(f"{_listed(stuck)} never moved{who}", *remedy.parts)))
    return {name: series[name] for name, chains in still.items() if not chains.size}, faults


def _disagreement(names: list[str], found: Agreement) -> Iterator[Reason]:
    """Yield the largest disagreement between chains, if it is not chance."""
    worst = int(np.argmax(found.excess))
    if found.excess[worst] <= 1.0:
        return
    distance, chain = found.distance[worst], int(found.chain[worst])
    more = int(np.count_nonzero(found.excess > 1.0)) - 1
    others = f" and {more} more" if more else ""
    who = f"chain {chain + 1} is" if chain >= 0 else "the second halves of the chains are"
    whom = "the other chains" if chain >= 0 else "the first halves"
    yield Reason(
        Colour.RED if distance >= RELEVANT else Colour.AMBER,
        Wording(
            f"{who} {distance:.2f} standard deviations away from {whom} in {names[worst]}{others}, more than the "
            f"{found.allowed[worst]:.2f} that are acceptable (take more ",
            Argument("warmup"),
            ")",
        ),
    )


def _low_ess(known: list[Quantity], chains: int, draws: int, tested: int) -> tuple[list[Reason], MoreDraws]:
    """Return reasons about effective sample sizes that are too small, and how many draws would suffice."""
    needed = {"ess_bulk": needed_ess(tested, chains), "ess_tail": NEEDED_TAIL_ESS}
    smallest = {name: min(known, key=lambda q: _size(q, name)) for name in needed}
    sizes = {name: _size(worst, name) for name, worst in smallest.items()}
    lowest = min(needed, key=lambda name: sizes[name] / needed[name])
    size = sizes[lowest]
    if size >= needed[lowest]:
        return [], MoreDraws(draws, draws)
    more = MoreDraws(
        _rounded_up(MARGIN * draws * needed[lowest] / max(size, 1.0)),
        _rounded_up(draws * max(safe_ess(needed[name], tested) / max(sizes[name], 1.0) for name in needed)),
    )
    text = (
        f"the effective sample size of {smallest[lowest].name} is {size:.0f}, "
        f"below the {needed[lowest]:.0f} needed (take "
    )
    if size < UNKNOWN_ESS * chains:
        many = Wording(text, "many more ", Argument("draws"), " and more ", Argument("warmup"), ")")
        return [Reason(Colour.RED, many)], more
    remedy = Argument("draws", more.advised)
    if size < AMBER_ESS:
        return [Reason(Colour.RED, Wording(text, remedy, " and more ", Argument("warmup"), ")"))], more
    return [Reason(Colour.AMBER, Wording(text, remedy, ")"))], more


def _size(quantity: Quantity, name: str) -> float:
    """Return an effective sample size of a quantity, 0 if it could not be computed."""
    return float(np.nan_to_num(getattr(quantity, name)))


def _rounded_up(draws: float) -> int:
    """Return a number of draws that people would choose: with one digit, or two if that is much more."""
    unit = 10 ** max(int(np.log10(draws)) - 1, 0)
    unit *= 5 if draws >= 50 * unit else 1
    return int(-(-draws // unit) * unit)


def _listed(names: list[str]) -> str:
    """Return the first name, and the number of further ones."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
