"""Is it converged?  A light, the reasons, and what to do next."""

from typing import Literal, NamedTuple

import numpy as np

from manifill.posterior import Diagnostics, Quantity
from manifill.report.words import Table

__all__ = ["Convergence", "Light", "convergence", "light", "worst_first"]

# Up to this R-hat and this share of divergent draws, results may do for a first look.
FAIR_RHAT, FAIR_DIVERGENCES = 1.05, 0.01

TABLE_ROWS = 10
HEADS = ("quantity", "mean", "sd", "R\N{NON-BREAKING HYPHEN}hat", "bulk ESS", "tail ESS")


class Light(NamedTuple):
    """A verdict that is seen at once."""

    colour: Literal["green", "amber", "red"]
    headline: str
    next_step: str


class Convergence(NamedTuple):
    """The section on convergence."""

    light: Light
    verdict: str
    reasons: tuple[str, ...]
    table: Table  # of the worst quantities
    left_out: int  # number of the others


def convergence(diagnostics: Diagnostics) -> Convergence:
    """Return the section."""
    quantities = worst_first(diagnostics)
    return Convergence(
        light=light(diagnostics),
        verdict=diagnostics.verdict,
        reasons=diagnostics.reasons,
        table=Table(HEADS, [_line(quantity) for quantity in quantities[:TABLE_ROWS]]),
        left_out=max(len(quantities) - TABLE_ROWS, 0),
    )


def light(diagnostics: Diagnostics) -> Light:
    """Return green, amber or red; a single chain is never green, since it has none to agree with."""
    if diagnostics.converged and diagnostics.chains > 1:
        return Light(
            "green",
            "Converged",
            "The numbers on this page can be used; how good the predictions are stands under accuracy.",
        )
    if diagnostics.converged:
        return Light(
            "amber",
            "One chain alone",
            "Fit again with four chains: only chains that agree show that none is stuck.",
        )
    if _is_fair(diagnostics):
        return Light(
            "amber",
            "Nearly converged",
            "Good enough for a first look; means will hardly move, but ends of intervals may. Before you rely on them, "
            "add draws to the run (resume it with a larger number of draws), or fit again with what is said above.",
        )
    return Light(
        "red",
        "Not converged",
        "Do not use the numbers on this page yet: another run could give others. Fit again with what is said above. "
        "Where that does not help, try a lower rank, and look for values in the data that cannot be right.",
    )


def worst_first(diagnostics: Diagnostics) -> list[Quantity]:
    """Return the quantities, those without an R-hat first, then by R-hat."""
    return sorted(diagnostics.quantities, key=lambda q: -np.inf if np.isnan(q.rhat) else -q.rhat)


def _line(quantity: Quantity) -> tuple[str, ...]:
    name, mean, sd, rhat, bulk, tail = quantity
    return name, f"{mean:.4g}", f"{sd:.3g}", f"{rhat:.3f}", f"{bulk:.0f}", f"{tail:.0f}"


def _is_fair(diagnostics: Diagnostics) -> bool:
    """Whether the chains nearly agree, in all that was looked at."""
    rhats = np.array([q.rhat for q in diagnostics.quantities])
    share = diagnostics.divergences / (diagnostics.chains * diagnostics.draws)
    return bool(np.all(rhats <= FAIR_RHAT)) and share <= FAIR_DIVERGENCES
