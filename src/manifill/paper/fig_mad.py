"""Histograms of held-out absolute deviations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manifill.base.arrays import Vector
from manifill.paper.cases import CASES, Case
from manifill.paper.page_section import Figure, Section
from manifill.paper.plotting import COLOURS, saved_figure
from manifill.paper.repetition_groups import CASE_TITLES, RepetitionGroup

__all__ = ["bin_edges", "fig_mad"]

BINS = 40

# If the median is below this share of the axis, nearly all cells would be in the first bins: use a logarithmic axis.
TINY = 0.01

TEXT = """
The share of held-out cells by their absolute deviation from the posterior mean. The first and the last bin include all
cells beyond them. The axis is logarithmic if a noise-free matrix is recovered almost exactly. Error bars are standard
deviations over repetitions.
"""


def fig_mad(groups: Sequence[RepetitionGroup], folder: Path) -> Section:
    """Draw a figure for each case."""
    figures = [
        _draw([group for group in groups if group.fit.case == case], folder)
        for case in dict.fromkeys(group.fit.case for group in groups)
    ]
    return Section("fig-mad", "Histograms of held-out deviations", TEXT, [], figures=figures)


def _draw(groups: Sequence[RepetitionGroup], folder: Path) -> Figure:
    case = CASES[groups[0].fit.case]
    name = f"fig-mad-{case.name}"
    size = (3.1 * len(case.models), 2.4 * len(case.shares))
    with saved_figure(folder, name, len(case.shares), len(case.models), size) as axes:
        for i, share in enumerate(case.shares):
            for j, model in enumerate(case.models):
                _panel(axes[i, j], [group for group in groups if group.table_key == (case.name, share, model)], case)
        for axis in axes[-1]:
            axis.set_xlabel("absolute deviation")
        for axis in axes[:, 0]:
            axis.set_ylabel("share of cells")
    return Figure(name, f"{CASE_TITLES[case.name]} ({case.description})")


def _panel(axis: Any, groups: Sequence[RepetitionGroup], case: Case) -> None:
    if not groups:  # no fit of this panel is finished yet
        axis.set_axis_off()
        return
    edges = bin_edges(groups, case.histogram_limit)
    for group in groups:
        _histogram(axis, group, edges)
    axis.set(title=f"{groups[0].model}, {groups[0].fit.share:.0%}", xscale="log" if edges[0] else "linear")
    axis.margins(y=0.25)  # room for the legend
    axis.set_ylim(bottom=0.0)
    axis.legend(fontsize=7, frameon=False, loc="upper right")


def bin_edges(groups: Sequence[RepetitionGroup], limit: float) -> Vector:
    """Return linear bin edges from zero to ``limit``, or logarithmic ones if all cells would be in a few bins."""
    deviations = [group.arrays("deviations") for group in groups]
    if min(float(np.median(each)) for each in deviations) > TINY * limit:
        return np.linspace(0.0, limit, BINS + 1)
    lowest, highest = (np.log10(each) for each in _range(np.concatenate(deviations, axis=None)))
    return np.logspace(lowest, highest, BINS + 1)


def _range(deviations: Vector) -> tuple[float, float]:
    low, high = np.quantile(deviations, (0.005, 0.995))
    return max(float(low), float(np.finfo(np.float32).tiny)), float(high)


def _histogram(axis: Any, group: RepetitionGroup, edges: Vector) -> None:
    clipped = np.clip(group.arrays("deviations").astype(np.float64), edges[0], edges[-1])
    shares = np.stack([np.histogram(each, edges)[0] / each.size for each in clipped])
    colour = COLOURS[group.fit.sampler]
    label = f"{group.sampler}, median {float(group.mean('deviations')[1]):.2g}"
    axis.stairs(shares.mean(axis=0), edges, color=colour, fill=True, alpha=0.35, label=label)
    if len(shares) > 1:
        centres = np.sqrt(edges[1:] * edges[:-1]) if edges[0] else 0.5 * (edges[1:] + edges[:-1])
        axis.errorbar(
            centres, shares.mean(axis=0), shares.std(axis=0, ddof=1), fmt="none", ecolor=colour, elinewidth=0.8
        )
