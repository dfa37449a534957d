"""Runs chains to a number of draws, or block by block until predictions are green."""

from collections.abc import Callable
from typing import NamedTuple

from manifill.base import progress
from manifill.base.wording import counted
from manifill.posterior import Diagnostics, Draws
from manifill.run.draw_places import Place
from manifill.run.draw_rule import AutoDraws, Ending, limit_sentence
from manifill.run.time_budget import TimeBudget
from manifill.sampling.chains import Chains, Outlook

__all__ = ["Outcome", "draw_number", "draw_until_green"]

Look = Callable[[Draws], Diagnostics]


class Outcome(NamedTuple):
    """The draws of a fit, and why there are no more."""

    draws: Draws
    diagnostics: Diagnostics | None  # of these draws, if they have been diagnosed
    ending: Ending


def draw_number(chains: Chains, draws: int, place: Place) -> Outcome:
    """Run chains to a number of draws."""
    place.add(chains.run(draws))
    found = place.draws()
    is_complete = (found.chains, found.draws) == (chains.number, draws)
    return Outcome(found, None, Ending.DRAWS if is_complete else Ending.INTERRUPT)


def draw_until_green(chains: Chains, rule: AutoDraws, goal: int, place: Place, look: Look) -> Outcome:
    """Run chains to a goal, look at the draws, and go on to the next one until predictions are green or a limit ends it.

    A look depends only on the draws and the run's seed, so the goals do not depend on how many chains run at a time.
    """
    budget = TimeBudget(rule.max_minutes)
    drawn = before = place.drawn()
    outlook = Outlook(goal, rule.max_draws, at_most=True, end=budget.end)
    while True:
        if drawn < goal:
            drawn = budget.run(_runner(chains, place, outlook), drawn, goal)
        if chains.stopped:
            return Outcome(place.draws(), None, Ending.INTERRUPT)
        if drawn < goal:  # the run ends here, complete
            place.set_goal(drawn)
        with progress.before_others(chains.time_left().seconds):
            found = look(place.draws())
        ending = _ending(found, rule, budget, drawn, goal)
        if ending is None and chains.stopped:
            ending = Ending.INTERRUPT
        if ending is not None:
            _announce(ending, rule, before, drawn)
            return Outcome(place.draws(), found, ending)
        needed = found.predictions.needed_draws
        goal = rule.next_goal(drawn, needed)
        place.set_goal(goal)
        # If it is not for lack of draws that predictions are not green, nobody knows how many it takes.
        is_known = needed > drawn
        total = min(max(goal, needed), rule.max_draws) if is_known else rule.max_draws
        outlook = Outlook(goal, total, at_most=not is_known, end=budget.end)


def _runner(chains: Chains, place: Place, outlook: Outlook) -> Callable[[int], bool]:
    def run_to(draws: int) -> bool:
        place.add(chains.run(draws, outlook))
        return not chains.stopped

    return run_to


def _ending(found: Diagnostics, rule: AutoDraws, budget: TimeBudget, drawn: int, goal: int) -> Ending | None:
    """Return why a fit ends after a look at its draws, or None if it goes on."""
    if found.converged:
        return Ending.GREEN
    if drawn >= rule.max_draws:
        return Ending.MAX_DRAWS
    return Ending.MAX_MINUTES if drawn < goal or budget.is_spent else None


def _announce(ending: Ending, rule: AutoDraws, before: int, drawn: int) -> None:
    """Say which limit has ended a fit, or that a run has got no draws since it had enough."""
    limit = limit_sentence(ending, rule.max_draws, rule.max_minutes)
    if limit is not None:
        progress.announce(limit)
    elif ending is Ending.GREEN and drawn == before:
        number = counted(drawn, "draw")
        progress.announce(f"Predictions were green already with {number} per chain, so none were added.")
