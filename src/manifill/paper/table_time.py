"""Table 2: processor time of an iteration, and how many times that of ABᵀ it is."""

from collections.abc import Sequence

import numpy as np

from manifill.paper.groups import Group
from manifill.paper.printed import MILLISECONDS
from manifill.paper.section import Answer, Column, Section, Table, Verdict, compared, number

__all__ = ["table_time"]

TEXT = """
Milliseconds of processor time that a draw takes, mean ± standard deviation over repetitions, without start, warm-up and
compilation. The paper's are of two Xeon E5-2680 v4, so that the ratio to ABᵀ, judged as well, says more. A draw of the
joint sampler is worth many of the others', so look at the effective sample sizes in Table 1 beside it.
"""

# A step size is still on its way to where it will be after fewer iterations, and so is the number of steps.
FEWEST_WARMUP = 50


def table_time(groups: Sequence[Group]) -> Section:
    """Set the cost of a draw beside the paper's; the ratio where there is an ABᵀ."""
    baselines = {group.place[:2]: float(group.mean("milliseconds")) for group in groups if group.fit.model == "ABT"}
    verdicts = [_time(group) for group in groups]
    verdicts += [
        _ratio(group, baselines[group.place[:2]])
        for group in groups
        if group.fit.model != "ABT" and group.place[:2] in baselines
    ]
    table = Table("table-time", COLUMNS, [_row(group, baselines.get(group.place[:2])) for group in groups])
    return Section("table-time", "Table 2: time of an iteration", TEXT, verdicts, [table])


def _with_spread(time: tuple[float, float | None]) -> str:
    mean, spread = time
    return number(mean) if spread is None else f"{number(mean)} ± {spread:.2g}"


COLUMNS = (
    Column("data"),
    Column("model"),
    Column("sampler"),
    Column("paper ms", number),
    Column("here ms", _with_spread, ("here ms", "± ms")),
    Column("gradients a draw", number),
    Column("paper / ABᵀ", number),
    Column("here / ABᵀ", number),
)


def _row(group: Group, baseline: float | None) -> tuple[object, ...]:
    gradients, time = group.each("gradients"), _measured(group)
    return (
        group.data,
        group.model,
        group.sampler,
        MILLISECONDS[group.place],
        time,
        None if np.isnan(gradients).any() else float(gradients.mean()),
        MILLISECONDS[group.place] / _printed_baseline(group),
        None if baseline is None else time[0] / baseline,
    )


def _measured(group: Group) -> tuple[float, float | None]:
    return float(group.mean("milliseconds")), group.spread("milliseconds")


def _printed_baseline(group: Group) -> float:
    return MILLISECONDS[(*group.place[:2], "ABT")]


def _time(group: Group) -> Verdict:
    time, printed = _measured(group), MILLISECONDS[group.place]
    gradients = group.each("gradients")
    answer, why = compared(time[0], printed), "On another machine"
    if not np.isnan(gradients).any():
        why += f", {number(float(gradients.mean()))} gradients a draw"
    if answer is Answer.WORSE and printed < _printed_baseline(group):
        why += "; the printed time is less than that of an ABᵀ sweep over the same cells, which can hardly be"
    if group.fit.size.warmup < FEWEST_WARMUP:
        answer, why = Answer.UNDECIDED, f"{group.fit.size.warmup} iterations of warm-up settle no step size"
    words = f"{printed:g} ms", f"{_with_spread(time)} ms"
    return Verdict(f"Time of a draw: {group.data}", group.name, *words, answer, f"{why}.")


def _ratio(group: Group, baseline: float) -> Verdict:
    time, printed = float(group.mean("milliseconds")), MILLISECONDS[group.place] / _printed_baseline(group)
    here = time / baseline
    answer, why = compared(here, printed), "ABᵀ needs no gradients."
    if answer is Answer.WORSE and time < MILLISECONDS[group.place]:
        answer, why = Answer.DIFFERENT, "Both are faster here than there, and ABᵀ is so by more."
    if answer is Answer.BETTER and baseline > _printed_baseline(group):
        answer, why = Answer.DIFFERENT, "ABᵀ is slower here than there."
    if group.fit.size.warmup < FEWEST_WARMUP:
        answer, why = Answer.UNDECIDED, f"{group.fit.size.warmup} iterations of warm-up settle no step size."
    words = f"{number(printed)} times", f"{number(here)} times"
    return Verdict(f"Ratio to ABᵀ: {group.data}", group.name, *words, answer, why)
