"""How many draws a fit makes: a number, or as many as make predictions green, in blocks and within limits."""

from enum import StrEnum
from math import ceil
from typing import NamedTuple

from manifill.base.argument_words import Argument, Wording

__all__ = ["AUTO", "AutoDraws", "Ending", "limit_sentence"]

AUTO = "auto"

# Draws per chain of the first block, and how much longer a run gets with each block: a look at it takes about a second,
# and the draws that it says are needed are an estimate.
FIRST_GOAL = 250
LEAST_GROWTH, MOST_GROWTH = 1.25, 2.0


class AutoDraws(NamedTuple):
    """Draw until predictions are green, or a limit is reached."""

    max_draws: int  # per chain
    max_minutes: float | None  # from when chains start; None: no limit

    @property
    def first_goal(self) -> int:
        """The draws per chain of the first block."""
        return min(FIRST_GOAL, self.max_draws)

    def next_goal(self, draws: int, needed: int) -> int:
        """Return the draws per chain to judge a run at next, if it has ``draws`` and seems to need ``needed``.

        It depends on nothing else, so that a run that is interrupted and resumed is judged at the same lengths.
        """
        least, most = ceil(LEAST_GROWTH * draws), int(MOST_GROWTH * draws)
        return min(max(least, min(needed, most)), self.max_draws)


class Ending(StrEnum):
    """Why a fit has ended."""

    DRAWS = "draws"  # it has the number of draws that was asked for
    GREEN = "green"
    MAX_DRAWS = "max_draws"
    MAX_MINUTES = "max_minutes"
    INTERRUPT = "interrupt"


def limit_sentence(ending: Ending, max_draws: int, max_minutes: float | None) -> Wording | None:
    """Return the limit that ended a fit before predictions were green, or None if none did."""
    values = {Ending.MAX_DRAWS: max_draws, Ending.MAX_MINUTES: max_minutes}
    if ending not in values:
        return None
    limit = Argument(ending.value, values[ending])
    return Wording("The limit ", limit, " was reached before predictions were green.")
