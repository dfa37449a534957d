import numpy as np
import pytest

from manifill.posterior import Diagnostics, Quantity
from manifill.report.sections.convergence import convergence, traffic_light


def diagnostics(
    rhats: list[float], *, chains: int = 4, divergences: int = 0, reasons: tuple[str, ...] = ("a reason (a remedy)",)
) -> Diagnostics:
    quantities = tuple(Quantity(f"q{k}", 0.0, 1.0, rhat, 1000.0, 1000.0) for k, rhat in enumerate(rhats))
    return Diagnostics(
        quantities=quantities,
        autocorrelation={},
        divergences=divergences,
        depth_limit_share=0.0,
        draws=100,
        chains=chains,
        converged=not reasons,
        reasons=reasons,
    )


@pytest.mark.parametrize(
    ("found", "colour"),
    [
        (diagnostics([1.0, 1.009], reasons=()), "green"),
        (diagnostics([1.0], reasons=(), chains=1), "amber"),  # nothing to compare it with
        (diagnostics([1.0, 1.04]), "amber"),
        (diagnostics([1.0], divergences=4), "amber"),
        (diagnostics([1.0], divergences=5), "red"),
        (diagnostics([1.0, 1.06]), "red"),
        (diagnostics([1.0, np.nan]), "red"),
    ],
)
def test_traffic_light(found: Diagnostics, colour: str) -> None:
    assert traffic_light(found).colour == colour


def test_the_worst_quantities_come_first() -> None:
    found = convergence(diagnostics([1.0, np.nan, *np.linspace(1.1, 1.2, 11)]))
    assert [row[0] for row in found.table.rows[:2]] == ["q1", "q12"]
    assert len(found.table.rows) + found.left_out == 13
