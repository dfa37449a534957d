"""Singular values of case 1 fitted with too many components: the superfluous ones should be near zero."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from manifill.base.arrays import Array
from manifill.paper.fit_task import Fit
from manifill.paper.page_section import Figure, Section
from manifill.paper.plotting import COLOURS, saved_figure
from manifill.paper.protocol import Protocol
from manifill.paper.repetition_groups import MANY_DRAWS, RepetitionGroup, group_repetitions
from manifill.paper.result_table import Column, Table, format_number
from manifill.paper.tasks import Result
from manifill.paper.verdict import Answer, Verdict

__all__ = ["fig_rank", "rank_fits"]

TRUE_RANK, RANK, SHARE = 10, 15, 0.4

# A singular value counts as near zero if it is below this share of the smallest true one.
NEAR_ZERO = 0.02

COLUMNS = (
    Column("sampler"),
    Column("component"),
    *(Column(f"{share} %", format_number) for share in (10, 50, 90)),
    Column("R-hat", lambda rhat: f"{rhat:.2f}"),
    Column("ESS", lambda ess: f"{ess:.0f}"),
)

TEXT = f"""
Case 1 with {SHARE:.0%} of its cells and true rank {TRUE_RANK}, fitted with {RANK} components and without effects: the
10 %, 50 % and 90 % quantiles of the sorted singular values.
"""


def rank_fits(protocol: Protocol, cases: tuple[str, ...]) -> list[Fit]:
    """Return the fits by the paper's sampler and by the default one, both without effects."""
    samplers = ("gibbs", "joint") if "case-1" in cases else ()
    return [Fit("case-1", SHARE, "SVD", sampler, 0, protocol.rank, rank=RANK) for sampler in samplers]


def fig_rank(fits: Sequence[Fit], results: Mapping[str, Result], folder: Path) -> Section:
    """Plot the singular values, and judge those beyond the tenth."""
    groups = group_repetitions(fits, results)
    with saved_figure(folder, "fig-rank", 1, 2, (8.5, 3.2)) as axes:
        for axis, scale in zip(axes[0], ("linear", "log"), strict=True):
            for shift, group in zip((-0.12, 0.12), groups, strict=False):
                low, middle, high = _quantiles(group)
                positions = np.arange(1, middle.size + 1) + shift
                bars = np.stack([middle - low, high - middle])
                axis.errorbar(
                    positions, middle, bars, fmt="o", ms=4, color=COLOURS[group.fit.sampler], label=group.sampler
                )
            axis.axvline(TRUE_RANK + 0.5, color="0.5", linewidth=0.8, linestyle="--")
            axis.set(yscale=scale, xlabel="component", ylabel="singular value" if scale == "linear" else "")
        axes[0, 0].legend(frameon=False)
    rows = [
        (group.sampler, k + 1, *values, group.median("rhat"), group.median("ess"))
        for group in groups
        for k, values in enumerate(_quantiles(group).T.tolist())
    ]
    return Section(
        name="fig-rank",
        title="The rank that the data support",
        text=TEXT,
        verdicts=[_verdict(group) for group in groups],
        tables=[Table("fig-rank", COLUMNS, rows)],
        figures=[
            Figure("fig-rank", "Sorted singular values, linear and logarithmic; the dashed line marks the true rank")
        ],
    )


def _quantiles(group: RepetitionGroup) -> Array:
    """Return 10 %, 50 % and 90 % quantiles, (3, r)."""
    return np.asarray(group.arrays("singular_values")[0])


def _verdict(group: RepetitionGroup) -> Verdict:
    """Compare the upper quantile of the largest superfluous value with the median of the smallest true one."""
    quantiles = _quantiles(group)
    beyond, least = float(quantiles[2, TRUE_RANK]), float(quantiles[1, TRUE_RANK - 1])
    here = f"at most {format_number(beyond)} beyond the tenth, which is {format_number(least)}"
    verdict = Verdict(
        *("Singular values", group.name, "values beyond the tenth near zero", here),
        *(Answer.REPRODUCED, "As in the paper."),
    )
    if beyond <= NEAR_ZERO * least:
        return verdict
    if group.fit.size.draws < MANY_DRAWS:
        return verdict._replace(answer=Answer.UNDECIDED, why=group.why_undecided)
    why = f"More than {NEAR_ZERO:.0%} of the tenth"
    if group.mixes is False:
        why += f", but the chains have not mixed (R-hat {group.median('rhat'):.2f}) and keep components of their start"
    return verdict._replace(answer=Answer.WORSE, why=f"{why}.")
