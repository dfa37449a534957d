"""Traces and autocorrelation of every fit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manifill.paper.page_section import Figure, Section
from manifill.paper.plotting import COLOURS, saved_figure
from manifill.paper.repetition_groups import MANY_DRAWS, MIXING_RHAT, RepetitionGroup
from manifill.paper.verdict import Answer, Verdict

__all__ = ["fig_traces"]

TEXT = """
For each fit: traces of the log density and of one entry of X in the first repetition, one curve per chain, and the
autocorrelation of fifty entries of X. Its mean over entries has a band of one standard deviation; error bars are
standard deviations over repetitions. For ABᵀ entries of A are shown, as in the paper; the data determine A only up to a
rotation.
"""

NEAR_ZERO = 0.1


def fig_traces(groups: Sequence[RepetitionGroup], folder: Path) -> Section:
    """Draw a figure for each case and share, and judge the paper's statements about case 1 and ABᵀ."""
    data_keys = dict.fromkeys(group.table_key[:2] for group in groups)
    figures = [_draw([group for group in groups if group.table_key[:2] == key], folder) for key in data_keys]
    verdicts = [_first_lag(group) for group in groups if group.fit.case == "case-1" and group.fit.model != "ABT"]
    verdicts += [_stationarity(group) for group in groups if group.fit.model == "ABT"]
    return Section("fig-traces", "Traces and autocorrelation", TEXT, verdicts, figures=figures)


def _draw(groups: Sequence[RepetitionGroup], folder: Path) -> Figure:
    fit = groups[0].fit
    name = f"fig-traces-{fit.case}-{round(100 * fit.share)}"
    with saved_figure(folder, name, len(groups), 3, (9.5, 1.9 * len(groups))) as axes:
        for row, group in zip(axes, groups, strict=True):
            _trace(row[0], group, "trace lp")
            _trace(row[1], group, _entry_trace(group))
            _autocorrelation(row[2], group)
            row[0].set_title(f"{group.model}, {group.sampler}: log density")
        for axis, label in zip(axes[-1], ("draw", "draw", "lag"), strict=True):
            axis.set_xlabel(label)
    return Figure(name, groups[0].data)


def _plotted_matrix(group: RepetitionGroup) -> str:
    """The matrix whose entries are plotted."""
    return "A" if group.fit.model == "ABT" else "X"


def _entry_trace(group: RepetitionGroup) -> str:
    """The name of the trace of an entry."""
    return next(name for name in group.results[0].arrays if name.startswith(f"trace {_plotted_matrix(group)}["))


def _trace(axis: Any, group: RepetitionGroup, name: str) -> None:
    chains = group.results[0].arrays[name]
    draws = np.arange(chains.shape[1]) * max(group.fit.size.draws // chains.shape[1], 1)
    for shade, chain in zip((1.0, 0.55), chains, strict=False):
        axis.plot(draws, chain, color=COLOURS[group.fit.sampler], alpha=shade, linewidth=0.7)
    axis.set_title(name.removeprefix("trace "))


def _autocorrelation(axis: Any, group: RepetitionGroup) -> None:
    name = "autocorrelation_of_factors" if group.fit.model == "ABT" else "autocorrelation"
    mean, spread = np.moveaxis(group.arrays(name), 1, 0)  # (repetition, lag) each
    lags, colour, middle = np.arange(mean.shape[1]), COLOURS[group.fit.sampler], mean.mean(axis=0)
    band = spread.mean(axis=0)
    axis.fill_between(lags, middle - band, middle + band, color=colour, alpha=0.2, linewidth=0.0)
    bars = mean.std(axis=0, ddof=1) if len(mean) > 1 else None
    axis.errorbar(lags, middle, bars, color=colour, linewidth=1.0, elinewidth=0.6)
    axis.axhline(0.0, color="0.3", linewidth=0.6)
    axis.set_ylim(-0.4, 1.05)
    axis.set_title(f"autocorrelation of entries of {_plotted_matrix(group)}")


def _first_lag(group: RepetitionGroup) -> Verdict:
    lag = float(np.mean(group.arrays("autocorrelation")[:, 0, 1]))
    verdict = Verdict(
        *(f"Autocorrelation of X: {group.data}", group.name, "near zero after one iteration", f"{lag:.2f} at lag 1"),
        *(Answer.REPRODUCED, "As in the paper."),
    )
    if abs(lag) <= NEAR_ZERO:
        return verdict
    if lag < 0.0:
        return verdict._replace(answer=Answer.BETTER, why="Negative correlation: better than independence.")
    why = "Without noise the conditionals of U, V and s are narrow: each block moves little while the others are fixed."
    if group.fit.sampler == "joint":
        why = "Trajectory lengths are tuned for ESS per gradient, which is shorter than independent draws would need."
    return verdict._replace(answer=Answer.WORSE, why=why)


def _stationarity(group: RepetitionGroup) -> Verdict:
    rhat = group.median("rhat_of_factors")
    here = f"R-hat of entries of A {rhat:.2f}, of identified quantities {group.median('rhat'):.2f}"
    verdict = Verdict(
        *(f"Stationarity of A: {group.data}", group.name, "Gibbs does not reach it", here),
        *(Answer.DIFFERENT, "Here the chains agree in A as well."),
    )
    if rhat <= MIXING_RHAT:
        return verdict
    if group.fit.size.draws < MANY_DRAWS:
        return verdict._replace(answer=Answer.UNDECIDED, why=group.why_undecided)
    why = "A and B can be rotated together at no cost, so chains from different starts stay apart in them."
    return verdict._replace(answer=Answer.REPRODUCED, why=why)
