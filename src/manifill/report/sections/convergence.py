"""Convergence of the chains: a traffic light, the reasons, and what to do next."""

from typing import Literal, NamedTuple

import numpy as np

from manifill.posterior import Diagnostics, Quantity
from manifill.report.formatting import PageTable

__all__ = ["Convergence", "TrafficLight", "convergence", "traffic_light", "worst_first"]

# Up to this R-hat and this share of divergent draws, the light is amber instead of red.
AMBER_RHAT, AMBER_DIVERGENCES = 1.05, 0.01

MAX_ROWS = 10
HEADER = ("quantity", "mean", "sd", "R\N{NON-BREAKING HYPHEN}hat", "bulk ESS", "tail ESS")


class TrafficLight(NamedTuple):
    """The verdict as a colour, a headline and advice."""

    colour: Literal["green", "amber", "red"]
    headline: str
    next_step: str


class Convergence(NamedTuple):
    """The section on convergence."""

    light: TrafficLight
    verdict: str
    reasons: tuple[str, ...]
    table: PageTable  # the quantities with the largest R-hat
    left_out: int  # number of other quantities


def convergence(diagnostics: Diagnostics) -> Convergence:
    """Return the section."""
    quantities = worst_first(diagnostics)
    return Convergence(
        light=traffic_light(diagnostics),
        verdict=diagnostics.verdict,
        reasons=diagnostics.reasons,
        table=PageTable(HEADER, [_row(quantity) for quantity in quantities[:MAX_ROWS]]),
        left_out=max(len(quantities) - MAX_ROWS, 0),
    )


def traffic_light(diagnostics: Diagnostics) -> TrafficLight:
    """Return green, amber or red; a single chain is never green, since it cannot be compared with another one."""
    if diagnostics.converged and diagnostics.chains > 1:
        return TrafficLight(
            "green",
            "Converged",
            "The results on this page can be used. See Accuracy for the quality of the predictions.",
        )
    if diagnostics.converged:
        return TrafficLight(
            "amber",
            "Only one chain",
            "Fit again with four chains: a chain that is stuck can only be detected by comparison with others.",
        )
    if _is_amber(diagnostics):
        return TrafficLight(
            "amber",
            "Nearly converged",
            "The results are good enough for a first impression: means will hardly change, but the bounds of intervals "
            "may. Before you rely on them, resume the run with a larger number of draws, or fit again with the "
            "remedies above.",
        )
    return TrafficLight(
        "red",
        "Not converged",
        "Do not use the results on this page yet: another run could give different ones. Fit again with the remedies "
        "above. If that does not help, try a lower rank, and check the data for invalid values.",
    )


def worst_first(diagnostics: Diagnostics) -> list[Quantity]:
    """Return the quantities in decreasing order of R-hat; those without an R-hat come first."""
    return sorted(diagnostics.quantities, key=lambda q: -np.inf if np.isnan(q.rhat) else -q.rhat)


def _row(quantity: Quantity) -> tuple[str, ...]:
    name, mean, sd, rhat, bulk, tail = quantity
    return name, f"{mean:.4g}", f"{sd:.3g}", f"{rhat:.3f}", f"{bulk:.0f}", f"{tail:.0f}"


def _is_amber(diagnostics: Diagnostics) -> bool:
    """Whether the chains nearly agree in all diagnosed quantities."""
    rhats = np.array([q.rhat for q in diagnostics.quantities])
    share = diagnostics.divergences / (diagnostics.chains * diagnostics.draws)
    return bool(np.all(rhats <= AMBER_RHAT)) and share <= AMBER_DIVERGENCES
