"""Table 2: processor time per iteration, and its ratio to that of ABᵀ."""

from collections.abc import Sequence

import numpy as np

from manifill.paper.page_section import Section
from manifill.paper.published_tables import PUBLISHED_MILLISECONDS
from manifill.paper.repetition_groups import RepetitionGroup
from manifill.paper.result_table import Column, Table, format_number
from manifill.paper.verdict import Answer, Verdict, compare

__all__ = ["table_time"]

TEXT = """
Milliseconds of processor time per draw, mean ± standard deviation over repetitions, without start, warm-up and
compilation. The paper's times were measured on two Xeon E5-2680 v4, so the ratio to ABᵀ, which is judged as well, is
more informative. A draw of the joint sampler is worth many draws of the others: compare the effective sample sizes in
Table 1.
"""

# With fewer iterations of warm-up the step size, and with it the number of steps per draw, has not settled.
FEWEST_WARMUP = 50


def table_time(groups: Sequence[RepetitionGroup]) -> Section:
    """Compare the time per draw with the paper's, and its ratio to ABᵀ if there is a fit of ABᵀ."""
    baselines = {group.table_key[:2]: float(group.mean("milliseconds")) for group in groups if group.fit.model == "ABT"}
    verdicts = [_time(group) for group in groups]
    verdicts += [
        _ratio(group, baselines[group.table_key[:2]])
        for group in groups
        if group.fit.model != "ABT" and group.table_key[:2] in baselines
    ]
    table = Table("table-time", COLUMNS, [_row(group, baselines.get(group.table_key[:2])) for group in groups])
    return Section("table-time", "Table 2: time per iteration", TEXT, verdicts, [table])


def _with_spread(time: tuple[float, float | None]) -> str:
    mean, spread = time
    return format_number(mean) if spread is None else f"{format_number(mean)} ± {spread:.2g}"


COLUMNS = (
    Column("data"),
    Column("model"),
    Column("sampler"),
    Column("paper ms", format_number),
    Column("here ms", _with_spread, ("here ms", "± ms")),
    Column("gradients per draw", format_number),
    Column("paper / ABᵀ", format_number),
    Column("here / ABᵀ", format_number),
)


def _row(group: RepetitionGroup, baseline: float | None) -> tuple[object, ...]:
    gradients, time = group.per_repetition("gradients"), _measured(group)
    return (
        group.data,
        group.model,
        group.sampler,
        PUBLISHED_MILLISECONDS[group.table_key],
        time,
        None if np.isnan(gradients).any() else float(gradients.mean()),
        PUBLISHED_MILLISECONDS[group.table_key] / _published_baseline(group),
        None if baseline is None else time[0] / baseline,
    )


def _measured(group: RepetitionGroup) -> tuple[float, float | None]:
    return float(group.mean("milliseconds")), group.spread("milliseconds")


def _published_baseline(group: RepetitionGroup) -> float:
    return PUBLISHED_MILLISECONDS[(*group.table_key[:2], "ABT")]


def _time(group: RepetitionGroup) -> Verdict:
    time, published = _measured(group), PUBLISHED_MILLISECONDS[group.table_key]
    gradients = group.per_repetition("gradients")
    answer, why = compare(time[0], published), "On another machine"
    if not np.isnan(gradients).any():
        why += f", {format_number(float(gradients.mean()))} gradients per draw"
    if answer is Answer.WORSE and published < _published_baseline(group):
        why += "; the published time is less than that of an ABᵀ sweep over the same cells, which is implausible"
    if group.fit.size.warmup < FEWEST_WARMUP:
        answer, why = Answer.UNDECIDED, _unsettled(group)
    texts = f"{published:g} ms", f"{_with_spread(time)} ms"
    return Verdict(f"Time per draw: {group.data}", group.name, *texts, answer, f"{why}.")


def _ratio(group: RepetitionGroup, baseline: float) -> Verdict:
    time, published_time = float(group.mean("milliseconds")), PUBLISHED_MILLISECONDS[group.table_key]
    here, published = time / baseline, published_time / _published_baseline(group)
    answer, why = compare(here, published), "ABᵀ needs no gradients"
    if answer is Answer.WORSE and time < published_time:
        answer, why = Answer.DIFFERENT, "Both are faster here than in the paper, ABᵀ by the larger factor"
    if answer is Answer.BETTER and baseline > _published_baseline(group):
        answer, why = Answer.DIFFERENT, "ABᵀ is slower here than in the paper"
    if group.fit.size.warmup < FEWEST_WARMUP:
        answer, why = Answer.UNDECIDED, _unsettled(group)
    texts = f"{format_number(published)} times", f"{format_number(here)} times"
    return Verdict(f"Ratio to ABᵀ: {group.data}", group.name, *texts, answer, f"{why}.")


def _unsettled(group: RepetitionGroup) -> str:
    return f"{group.fit.size.warmup} iterations of warm-up are too few to settle the step size"
