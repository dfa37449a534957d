"""From the arguments on the number of draws to the rule of a fit."""

from typing import Any

from manifill.base.argument_words import Argument, Wording
from manifill.estimators.arguments import check_count, check_count_or_auto, check_positive
from manifill.run.draw_rule import AUTO, AutoDraws

__all__ = ["choose_draws"]


def choose_draws(draws: Any, max_draws: Any, max_minutes: Any) -> int | AutoDraws:
    """Return the number of draws per chain, or the rule that finds it."""
    number = check_count_or_auto("draws", draws, 1)
    limits = AutoDraws(
        check_count("max_draws", max_draws, 1),
        None if max_minutes is None else check_positive("max_minutes", max_minutes),
    )
    if number is None:
        return limits
    if max_minutes is not None:
        both = Argument("max_minutes"), " is a limit of ", Argument("draws", AUTO), ", and ", Argument("draws", number)
        raise ValueError(Wording(*both, " is a fixed number; leave one of them out."))
    return number
