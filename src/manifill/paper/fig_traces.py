"""Traces and autocorrelation of every fit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manifill.paper.groups import MANY_DRAWS, MIXING_RHAT, Group
from manifill.paper.pictures import COLOURS, figure
from manifill.paper.section import Answer, Picture, Section, Verdict

__all__ = ["fig_traces"]

TEXT = """
For each fit: the log density and one entry of X of the first repetition, a line a chain, and the autocorrelation of
fifty entries of X, its mean over entries with a band of one standard deviation; bars are standard deviations over
repetitions. Of ABᵀ entries of A are shown, which the data determine up to a rotation only and which the paper looks at.
"""

NEAR_ZERO = 0.1


def fig_traces(groups: Sequence[Group], folder: Path) -> Section:
    """Draw a picture of each case and share, and judge what the paper says of case 1 and of ABᵀ."""
    places = dict.fromkeys(group.place[:2] for group in groups)
    pictures = [_draw([group for group in groups if group.place[:2] == place], folder) for place in places]
    verdicts = [_first_lag(group) for group in groups if group.fit.case == "case-1" and group.fit.model != "ABT"]
    verdicts += [_stationarity(group) for group in groups if group.fit.model == "ABT"]
    return Section("fig-traces", "Traces and autocorrelation", TEXT, verdicts, pictures=pictures)


def _draw(groups: Sequence[Group], folder: Path) -> Picture:
    fit = groups[0].fit
    name = f"fig-traces-{fit.case}-{round(100 * fit.share)}"
    with figure(folder, name, len(groups), 3, (9.5, 1.9 * len(groups))) as axes:
        for row, group in zip(axes, groups, strict=True):
            _trace(row[0], group, "trace lp")
            _trace(row[1], group, _an_entry(group))
            _autocorrelation(row[2], group)
            row[0].set_title(f"{group.model}, {group.sampler}: log density")
        for axis, label in zip(axes[-1], ("draw", "draw", "lag"), strict=True):
            axis.set_xlabel(label)
    return Picture(name, groups[0].data)


def _shown(group: Group) -> str:
    """The matrix whose entries are shown."""
    return "A" if group.fit.model == "ABT" else "X"


def _an_entry(group: Group) -> str:
    return next(name for name in group.results[0].arrays if name.startswith(f"trace {_shown(group)}["))


def _trace(axis: Any, group: Group, name: str) -> None:
    chains = group.results[0].arrays[name]
    draws = np.arange(chains.shape[1]) * max(group.fit.size.draws // chains.shape[1], 1)
    for shade, chain in zip((1.0, 0.55), chains, strict=False):
        axis.plot(draws, chain, color=COLOURS[group.fit.sampler], alpha=shade, linewidth=0.7)
    axis.set_title(name.removeprefix("trace "))


def _autocorrelation(axis: Any, group: Group) -> None:
    name = "autocorrelation_of_factors" if group.fit.model == "ABT" else "autocorrelation"
    mean, spread = np.moveaxis(group.arrays(name), 1, 0)  # (repetition, lag) each
    lags, colour, middle = np.arange(mean.shape[1]), COLOURS[group.fit.sampler], mean.mean(axis=0)
    band = spread.mean(axis=0)
    axis.fill_between(lags, middle - band, middle + band, color=colour, alpha=0.2, linewidth=0.0)
    bars = mean.std(axis=0, ddof=1) if len(mean) > 1 else None
    axis.errorbar(lags, middle, bars, color=colour, linewidth=1.0, elinewidth=0.6)
    axis.axhline(0.0, color="0.3", linewidth=0.6)
    axis.set_ylim(-0.4, 1.05)
    axis.set_title(f"autocorrelation of entries of {_shown(group)}")


def _first_lag(group: Group) -> Verdict:
    lag = float(np.mean(group.arrays("autocorrelation")[:, 0, 1]))
    verdict = Verdict(
        *(f"Autocorrelation of X: {group.data}", group.name, "near zero after one iteration", f"{lag:.2f} at lag 1"),
        *(Answer.REPRODUCED, "As printed."),
    )
    if abs(lag) <= NEAR_ZERO:
        return verdict
    if lag < 0.0:
        return verdict._replace(answer=Answer.BETTER, why="Draws alternate, which is worth more than independence.")
    why = "Without noise the conditionals of U, V and s are needles: a block moves as far as the others let it."
    if group.fit.sampler == "joint":
        why = "Trajectories are as long as pays a gradient, which is shorter than independence would need."
    return verdict._replace(answer=Answer.WORSE, why=why)


def _stationarity(group: Group) -> Verdict:
    rhat = group.median("rhat_of_factors")
    here = f"R-hat of entries of A {rhat:.2f}, of identified quantities {group.median('rhat'):.2f}"
    verdict = Verdict(
        *(f"Stationarity of A: {group.data}", group.name, "Gibbs does not reach it", here),
        *(Answer.DIFFERENT, "These chains agree in A as well."),
    )
    if rhat <= MIXING_RHAT:
        return verdict
    if group.fit.size.draws < MANY_DRAWS:
        return verdict._replace(answer=Answer.UNDECIDED, why=group.doubt)
    why = "A and B turn freely together, so chains from different starts stay apart in them."
    return verdict._replace(answer=Answer.REPRODUCED, why=why)
