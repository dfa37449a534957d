"""Table 2: processor time of an iteration, and how many times that of ABᵀ it is."""

from collections.abc import Sequence

import numpy as np

from manifill.paper.groups import Group
from manifill.paper.printed import MILLISECONDS
from manifill.paper.section import Answer, Section, Table, Verdict, compared

__all__ = ["table_time"]

TEXT = """
Milliseconds of processor time that a draw takes, mean ± standard deviation over repetitions, without start, warm-up and
compilation. The paper's are of two Xeon E5-2680 v4, so the ratio to ABᵀ is what is judged. A draw of the joint sampler
is worth many of the others', so look at the effective sample sizes in Table 1 beside it.
"""

COLUMNS = ("data", "model", "sampler", "paper ms", "here ms", "gradients a draw", "paper / ABᵀ", "here / ABᵀ")


def table_time(groups: Sequence[Group]) -> Section:
    """Set the cost of a draw beside the paper's."""
    baselines = {group.place[:2]: float(group.mean("milliseconds")) for group in groups if group.fit.model == "ABT"}
    rows = [_row(group, baselines[group.place[:2]]) for group in groups]
    verdicts = [_verdict(group, baselines[group.place[:2]]) for group in groups if group.fit.model != "ABT"]
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


def _verdict(group: Group, baseline: float) -> Verdict:
    """Judge the ratio to the baseline, which does not depend on the machine as milliseconds do."""
    printed = MILLISECONDS[group.place] / MILLISECONDS[(*group.place[:2], "ABT")]
    here = float(group.mean("milliseconds")) / baseline
    words = f"{printed:.3g} times ABᵀ ({MILLISECONDS[group.place]:g} ms)", f"{here:.3g} times ABᵀ ({_spread(group)} ms)"
    answer, why = compared(here, printed), f"A draw takes {group.mean('gradients'):.0f} gradients; ABᵀ needs none."
    if answer is Answer.WORSE and float(group.mean("milliseconds")) < MILLISECONDS[group.place]:
        answer, why = Answer.DIFFERENT, f"Both are faster here than there, and ABᵀ is so by more. {why}"
    return Verdict(f"{group.name}: to ABᵀ", *words, answer, why)


def _spread(group: Group) -> str:
    times = group.each("milliseconds")
    return f"{times.mean():.2g} ± {times.std():.1g}" if times.size > 1 else f"{times.mean():.2g}"
