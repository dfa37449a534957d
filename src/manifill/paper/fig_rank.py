"""Case 1 fitted with more components than it has: the singular values say which are needed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from manifill.paper.fits import Fit
from manifill.paper.groups import NAMES
from manifill.paper.pictures import COLOURS, figure
from manifill.paper.protocol import Protocol
from manifill.paper.results import Result
from manifill.paper.section import Answer, Picture, Section, Table, Verdict
from manifill.types import Array

__all__ = ["fig_rank", "rank_fits"]

TRUE_RANK, RANK, SHARE = 10, 15, 0.4

# What counts as near zero: a share of the smallest singular value that is there.
NEAR_ZERO = 0.02

TEXT = f"""
Case 1, {SHARE:.0%} of its cells, of true rank {TRUE_RANK}, fitted with {RANK} components and without effects: 10 %,
50 % and 90 % quantiles of the sorted singular values.
"""


def rank_fits(protocol: Protocol, cases: tuple[str, ...]) -> list[Fit]:
    """Return the fits: by the paper's sampler, and by the default one, both without effects."""
    samplers = ("gibbs", "joint") if "case-1" in cases else ()
    return [Fit("case-1", SHARE, "SVD", sampler, 0, protocol.rank, rank=RANK) for sampler in samplers]


def fig_rank(fits: Sequence[Fit], results: Mapping[str, Result], folder: Path) -> Section:
    """Draw the singular values, and judge those beyond the tenth."""
    values = {fit.sampler: results[fit.key].arrays["singular_values"] for fit in fits}
    with figure(folder, "fig-rank", 1, 2, (8.5, 3.2)) as axes:
        for axis, scale in zip(axes[0], ("linear", "log"), strict=True):
            for shift, (sampler, quantiles) in zip((-0.12, 0.12), values.items(), strict=False):
                low, middle, high = quantiles
                places = np.arange(1, middle.size + 1) + shift
                bars = np.stack([middle - low, high - middle])
                axis.errorbar(places, middle, bars, fmt="o", ms=4, color=COLOURS[sampler], label=NAMES[sampler])
            axis.axvline(TRUE_RANK + 0.5, color="0.5", linewidth=0.8, linestyle="--")
            axis.set(yscale=scale, xlabel="component", ylabel="singular value" if scale == "linear" else "")
        axes[0, 0].legend(frameon=False)
    rows = [
        (NAMES[sampler], k + 1, *(f"{value:.4g}" for value in quantiles[:, k]))
        for sampler, quantiles in values.items()
        for k in range(quantiles.shape[1])
    ]
    return Section(
        name="fig-rank",
        title="The rank that the data support",
        text=TEXT,
        verdicts=[_verdict(sampler, quantiles) for sampler, quantiles in values.items()],
        tables=[Table("fig-rank", ("sampler", "component", "10 %", "50 %", "90 %"), rows)],
        pictures=[
            Picture("fig-rank", "Sorted singular values, linear and logarithmic; the line stands at the true rank")
        ],
    )


def _verdict(sampler: str, quantiles: Array) -> Verdict:
    """Compare the upper quantile of what should not be there to the median of the least that should."""
    beyond, least = float(quantiles[2, TRUE_RANK]), float(quantiles[1, TRUE_RANK - 1])
    here = f"at most {beyond:.2g} beyond the tenth, which is {least:.3g}"
    if beyond <= NEAR_ZERO * least:
        return Verdict(NAMES[sampler], "values beyond the tenth near zero", here, Answer.REPRODUCED, "As printed.")
    why = f"More than {NEAR_ZERO:.0%} of it: what the start left there has not gone in so few iterations."
    return Verdict(NAMES[sampler], "values beyond the tenth near zero", here, Answer.WORSE, why)
