"""Histograms of held-out absolute deviations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manifill.paper.cases import CASES
from manifill.paper.groups import TITLES, Group
from manifill.paper.pictures import COLOURS, figure
from manifill.paper.section import Picture, Section
from manifill.paper.summary import BINS

__all__ = ["fig_mad"]

TEXT = """
The share of held-out cells by their absolute deviation from the posterior mean; the last bin holds all that is beyond.
Bars are standard deviations over repetitions.
"""


def fig_mad(groups: Sequence[Group], folder: Path) -> Section:
    """Draw a picture of each case."""
    pictures = [
        _draw([group for group in groups if group.fit.case == case], folder)
        for case in dict.fromkeys(group.fit.case for group in groups)
    ]
    return Section("fig-mad", "Histograms of held-out deviations", TEXT, [], pictures=pictures)


def _draw(groups: Sequence[Group], folder: Path) -> Picture:
    case = CASES[groups[0].fit.case]
    name = f"fig-mad-{case.name}"
    size = (3.1 * len(case.models), 2.4 * len(case.shares))
    with figure(folder, name, len(case.shares), len(case.models), size) as axes:
        for group in groups:
            axis = axes[case.shares.index(group.fit.share), case.models.index(group.fit.model)]
            _steps(axis, group, case.widest)
            axis.set_title(f"{group.model}, {group.fit.share:.0%}")
            axis.legend(fontsize=7, frameon=False)
        for axis in axes[-1]:
            axis.set_xlabel("absolute deviation")
        for axis in axes[:, 0]:
            axis.set_ylabel("share of cells")
    return Picture(name, f"{TITLES[case.name]} ({case.about})")


def _steps(axis: Any, group: Group, widest: float) -> None:
    edges = np.linspace(0.0, widest, BINS + 1)
    shares = group.arrays("histogram")
    colour = COLOURS[group.fit.sampler]
    label = f"{group.sampler}, median {float(group.mean('deviations')[1]):.2g}"
    axis.stairs(shares.mean(axis=0), edges, color=colour, fill=True, alpha=0.35, label=label)
    if len(shares) > 1:
        centres = 0.5 * (edges[1:] + edges[:-1])
        axis.errorbar(centres, shares.mean(axis=0), shares.std(axis=0), fmt="none", ecolor=colour, elinewidth=0.8)
