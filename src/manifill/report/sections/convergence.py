"""Convergence of the chains by use: a traffic light for each, the reasons, and what to do next."""

from typing import NamedTuple

import numpy as np

from manifill.posterior import Colour, Diagnostics, Quantity, UseVerdict
from manifill.report.formatting import PageTable

__all__ = ["Convergence", "TrafficLight", "convergence", "traffic_light", "worst_first"]

MAX_ROWS = 10
HEADER = ("quantity", "mean", "sd", "R\N{NON-BREAKING HYPHEN}hat", "bulk ESS", "tail ESS")

# What a colour means, in words, for those who cannot see it and for those who print the page.
HEADLINES = {
    Colour.GREEN: "can be used",
    Colour.AMBER: "have nearly settled",
    Colour.RED: "have not settled",
}
NEXT_STEPS = {
    ("predictions", Colour.GREEN): "Predictions and their intervals on this page can be used. See Accuracy for their "
    "quality.",
    ("predictions", Colour.AMBER): "The predictions are good enough for a first impression: means will hardly change, "
    "but the bounds of intervals may. Before you rely on them, follow the remedies above; more draws can be added to "
    "this run by resuming it.",
    ("predictions", Colour.RED): "Do not use the predictions yet: another run could give different ones. Fit again "
    "with the remedies above. If that does not help, try a lower rank, and check the data for invalid values.",
    ("global quantities", Colour.GREEN): "Singular values, the rank that the data support, and hyper-parameters can be "
    "used.",
    ("global quantities", Colour.AMBER): "Singular values and hyper-parameters are good enough for a first impression. "
    "Predictions do not depend on this.",
    ("global quantities", Colour.RED): "Do not interpret singular values, the rank or hyper-parameters yet: another "
    "run could give different ones. Predictions do not depend on this and have their own verdict.",
}


class TrafficLight(NamedTuple):
    """The verdict on one use of the draws as a colour, a headline, reasons and advice."""

    colour: Colour
    headline: str
    sentence: str
    reasons: tuple[str, ...]
    next_step: str
    table: PageTable  # the quantities with the largest R-hat
    left_out: int  # number of other quantities


class Convergence(NamedTuple):
    """The section on convergence."""

    predictions: TrafficLight
    global_quantities: TrafficLight


def convergence(diagnostics: Diagnostics) -> Convergence:
    """Return the section."""
    return Convergence(traffic_light(diagnostics.predictions), traffic_light(diagnostics.global_quantities))


def traffic_light(found: UseVerdict) -> TrafficLight:
    """Return the verdict on one use as the page shows it."""
    quantities = worst_first(found.quantities)
    return TrafficLight(
        colour=found.colour,
        headline=f"{found.use.capitalize()} {HEADLINES[found.colour]}",
        sentence=found.sentence,
        reasons=found.reasons,
        next_step=NEXT_STEPS[found.use, found.colour],
        table=PageTable(HEADER, [_row(quantity) for quantity in quantities[:MAX_ROWS]]),
        left_out=max(len(quantities) - MAX_ROWS, 0),
    )


def worst_first(quantities: tuple[Quantity, ...]) -> list[Quantity]:
    """Return the quantities in decreasing order of R-hat; those without an R-hat come first."""
    return sorted(quantities, key=lambda q: -np.inf if np.isnan(q.rhat) else -q.rhat)


def _row(quantity: Quantity) -> tuple[str, ...]:
    name, mean, sd, rhat, bulk, tail = quantity
    return name, f"{mean:.4g}", f"{sd:.3g}", f"{rhat:.3f}", f"{bulk:.0f}", f"{tail:.0f}"
