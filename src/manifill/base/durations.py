"""Durations: in words, and what is left of one that was expected."""

__all__ = ["in_words", "still_left"]

LONGEST_IN_SECONDS, LONGEST_IN_MINUTES = 100.0, 6000.0  # durations below these are shown in the unit

# What lasts longer than was expected is expected to last longer still, by this share of the time so far.
OVERDUE = 0.25


def in_words(seconds: float) -> str:
    """Return a duration to the second, however long it is, so that a display of it does not stand still."""
    if seconds < LONGEST_IN_SECONDS - 0.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if seconds < LONGEST_IN_MINUTES - 0.5:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} h"


def still_left(expected: float, since: float) -> float:
    """Return the seconds that are left after some of those that were expected have passed.

    They fall by one per second until most have passed; then they grow, since nobody knows when the end will come.
    """
    return max(expected - since, OVERDUE * since)
