import numpy as np
import pytest

from manifill.base.argument_words import Wording
from manifill.posterior import Colour, Diagnostics, Quantity, UseVerdict
from manifill.report.sections.convergence import convergence, traffic_light


def verdict(use: str, colour: Colour, rhats: list[float]) -> UseVerdict:
    quantities = tuple(Quantity(f"q{k}", 0.0, 1.0, rhat, 1000.0, 1000.0) for k, rhat in enumerate(rhats))
    reasons = () if colour == Colour.GREEN else (Wording("a reason (a remedy)"),)
    return UseVerdict(use, colour, reasons, quantities, needed_draws=100, advised_draws=150)


@pytest.mark.parametrize("use", ["predictions", "global quantities"])
@pytest.mark.parametrize("colour", Colour)
def test_a_light_has_a_colour_and_words(use: str, colour: Colour) -> None:
    light = traffic_light(verdict(use, colour, [1.0]))
    assert light.colour == colour
    assert light.headline.startswith(use.capitalize())
    assert light.sentence.startswith(f"{use.capitalize()} are {colour}: ")
    assert ("not" in light.next_step.split()) == (colour == Colour.RED or (use[0], colour) == ("g", Colour.AMBER))


def test_both_uses_are_shown_the_worst_quantities_first() -> None:
    many = [1.0, np.nan, *np.linspace(1.1, 1.2, 11)]
    found = convergence(
        Diagnostics(
            predictions=verdict("predictions", Colour.GREEN, [1.0, 1.01]),
            global_quantities=verdict("global quantities", Colour.RED, many),
            autocorrelation={},
            divergences=0,
            depth_limit_share=0.0,
            draws=100,
            chains=4,
        )
    )
    assert (found.predictions.colour, found.global_quantities.colour) == (Colour.GREEN, Colour.RED)
    rows = found.global_quantities.table.rows
    assert [row[0] for row in rows[:2]] == ["q1", "q12"]
    assert len(rows) + found.global_quantities.left_out == 13
