"""Table 2: processor time of an iteration, and how many times that of ABᵀ it is."""

from collections.abc import Sequence

import numpy as np

from manifill.paper.groups import Group
from manifill.paper.printed import MILLISECONDS
from manifill.paper.section import Section, Table, Verdict, compared

__all__ = ["table_time"]

TEXT = """
Milliseconds of processor time that a draw takes, mean ± standard deviation over repetitions, without start, warm-up and
compilation. The paper's are of two Xeon E5-2680 v4; a draw of the joint sampler is worth many of the others', so look
at the effective sample sizes in Table 1 beside it.
"""

COLUMNS = ("data", "model", "sampler", "paper ms", "here ms", "gradients a draw", "paper / ABᵀ", "here / ABᵀ")


def table_time(groups: Sequence[Group]) -> Section:
    """Set the cost of a draw beside the paper's."""
    baselines = {group.place[:2]: float(group.mean("milliseconds")) for group in groups if group.fit.model == "ABT"}
    rows = [_row(group, baselines[group.place[:2]]) for group in groups]
    verdicts = [_verdict(group) for group in groups]
    table = Table("table-time", COLUMNS, rows)
    return Section("table-time", "Table 2: time of an iteration", TEXT, verdicts, [table])


def _row(group: Group, baseline: float) -> tuple[object, ...]:
    printed = MILLISECONDS[group.place]
    printed_baseline = MILLISECONDS[(*group.place[:2], "ABT")]
    gradients = group.each("gradients")
    return (
        group.data,
        group.model,
        group.sampler,
        f"{printed:g}",
        _spread(group),
        "" if np.isnan(gradients).any() else f"{gradients.mean():.0f}",
        f"{printed / printed_baseline:.1f}",
        f"{float(group.mean('milliseconds')) / baseline:.1f}",
    )


def _verdict(group: Group) -> Verdict:
    printed, here = MILLISECONDS[group.place], float(group.mean("milliseconds"))
    faster = f"{printed / here:.2g} times as fast, on another machine."
    why = faster if here < printed else f"It takes {here / printed:.2g} times as long, on another machine."
    return Verdict(group.name, f"{printed:g} ms", f"{_spread(group)} ms", compared(here, printed), why)


def _spread(group: Group) -> str:
    times = group.each("milliseconds")
    return f"{times.mean():.2g} ± {times.std():.1g}" if times.size > 1 else f"{times.mean():.2g}"
