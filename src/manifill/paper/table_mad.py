"""Table 1: absolute deviations of held-out cells, and whether the chains mix."""

from collections.abc import Iterable, Sequence

import numpy as np

from manifill.base.arrays import Vector
from manifill.base.wording import counted
from manifill.paper.cases import CASES, TRIALS
from manifill.paper.page_section import Section
from manifill.paper.published_tables import PUBLISHED_DEVIATIONS
from manifill.paper.repetition_groups import MIXING_ESS, MIXING_RHAT, RepetitionGroup
from manifill.paper.result_table import Column, Table, format_number
from manifill.paper.verdict import Answer, Verdict, compare

__all__ = ["table_mad"]

TEXT = f"""
Absolute deviations of held-out values from the posterior mean, their quantiles averaged over repetitions. The published
deviations of the synthetic cases are those of predicting zero everywhere, or larger, so they are shown but are not a
target: for these cases "better" means clearly closer than predicting zero, and "reproduced" means about as close. For
the other data the median and the 99 % quantile are compared. The samplers do not fit the same model: "Gibbs" and
"paper's HMC in Gibbs" use the paper's models and noise prior, with λ learned; "joint (default)" uses the default
settings, with a mean, row and column effects and a noise prior on the scale of the data. All chains start about one
standard deviation from the posterior mode.

A chain mixes if R-hat of all diagnosed quantities (the log density, σ, singular values and entries of X) is at most
{MIXING_RHAT} and their smallest effective sample size is at least {MIXING_ESS:.0f} per chain; "converged" is the
stricter verdict of the package on all of its quantities. Every fit has two chains. R-hat and ESS are
medians over repetitions. For noise-free data 90 % intervals cover more than 90 %, since the prior keeps σ above zero.
Case 3 has counts out of {TRIALS}; the paper does not state the number of trials.
"""

# A published median of at least this share of the median of predicting zero counts as no better than predicting zero.
NAIVE = 0.85

COMPARATIVES = {Answer.BETTER: "smaller", Answer.REPRODUCED: "the same within 10 %", Answer.WORSE: "larger"}


def table_mad(groups: Sequence[RepetitionGroup]) -> Section:
    """Compare deviations and mixing with the paper's."""
    verdicts = [*map(_deviation, groups), *map(_mixing, groups)]
    table = Table("table-mad", COLUMNS, [_row(group) for group in groups])
    return Section("table-mad", "Table 1: held-out deviations and mixing", TEXT, verdicts, [table])


def _exact_list(values: Iterable[float]) -> str:
    return "[" + ", ".join(f"{value:g}" for value in values) + "]"


def _rounded_list(values: Iterable[float]) -> str:
    return "[" + ", ".join(f"{value:.3g}" for value in values) + "]"


def _quantiles(of: str) -> tuple[str, ...]:
    return tuple(f"{of} {quantile} %" for quantile in (1, 50, 99))


COLUMNS = (
    Column("data"),
    Column("model"),
    Column("sampler"),
    Column("repetitions"),
    Column("paper 1 %, 50 %, 99 %", _exact_list, _quantiles("paper")),
    Column("here 1 %, 50 %, 99 %", _rounded_list, _quantiles("here")),
    Column("predicting zero", _rounded_list, _quantiles("predicting zero")),
    Column("RMSE", format_number),
    Column("± over repetitions", format_number),
    Column("log density", format_number),
    Column("CRPS", format_number),
    Column("90 % coverage", lambda share: f"{share:.1%}"),
    Column("R-hat", lambda rhat: f"{rhat:.3f}"),
    Column("ESS", lambda ess: f"{ess:.0f}"),
    Column("divergences"),
    Column("mix", lambda share: f"{share:.0%}"),
    Column("converged", lambda share: f"{share:.0%}"),
)


def _row(group: RepetitionGroup) -> tuple[object, ...]:
    return (
        group.data,
        group.model,
        group.sampler,
        len(group.results),
        PUBLISHED_DEVIATIONS[group.table_key],
        tuple(group.mean("deviations").tolist()),
        tuple(group.mean("deviations_from_zero").tolist()),
        float(group.mean("rmse")),
        group.spread("rmse"),
        float(group.mean("log_density")),
        float(group.mean("crps")),
        float(group.mean("coverage")),
        group.median("rhat"),
        group.median("ess"),
        int(group.per_repetition("divergences").sum()),
        float(group.mixing.mean()),
        float(group.mean("converged")),
    )


def _deviation(group: RepetitionGroup) -> Verdict:
    paper, here = PUBLISHED_DEVIATIONS[group.table_key], group.mean("deviations")
    zero = group.mean("deviations_from_zero")
    naive = not CASES[group.fit.case].is_real and paper[1] >= NAIVE * zero[1]
    answer, why = _compare_with_zero(here, zero) if naive else _compare_with_paper(here, paper)
    if group.mixes is False:
        why += f" The chains have not mixed (R-hat {group.median('rhat'):.2f})."
    return Verdict(f"Deviations: {group.data}", group.name, _exact_list(paper), _rounded_list(here), answer, why)


def _compare_with_zero(here: Vector, zero: Vector) -> tuple[Answer, str]:
    """Compare with predicting zero, if the published values are no better than that."""
    answer = compare(here[1], zero[1])
    published = f"The published values are those of predicting zero ({_rounded_list(zero)})"
    if answer is Answer.BETTER:
        return answer, f"{published} or larger; the posterior mean is closer."
    if answer is Answer.REPRODUCED:
        return answer, f"{published}, and so few cells hardly allow better predictions."
    return answer, f"{published}, and the posterior mean is further off."


def _compare_with_paper(here: Vector, paper: Sequence[float]) -> tuple[Answer, str]:
    """Compare median and tail; if one is better and the other worse, the answer is DIFFERENT."""
    middle, tail = compare(here[1], paper[1]), compare(here[2], paper[2])
    why = f"The median is {COMPARATIVES[middle]}, the 99 % quantile {COMPARATIVES[tail]}."
    if middle is tail or tail is Answer.REPRODUCED:
        return middle, why
    return (tail if middle is Answer.REPRODUCED else Answer.DIFFERENT), why


def _mixing(group: RepetitionGroup) -> Verdict:
    baseline, size = group.fit.model == "ABT", group.fit.size
    statistics = f"R-hat {group.median('rhat'):.3f}, ESS {group.median('ess'):.0f}"
    here = f"{group.mixing.sum()} of {group.mixing.size} mix ({statistics})"
    verdict = Verdict(
        f"Mixing: {group.data}",
        group.name,
        "does not mix" if baseline else "mixes",
        here,
        Answer.REPRODUCED,
        f"In {size.draws} draws after {size.warmup} iterations of warm-up.",
    )
    if group.mixes is None:
        return verdict._replace(answer=Answer.UNDECIDED, why=group.why_undecided)
    if group.mixes != baseline:
        return verdict
    if not baseline:
        return verdict._replace(answer=Answer.WORSE, why=_why_not_mixing(group))
    factors = group.median("rhat_of_factors")
    why = "only A Bᵀ is identified, and it mixes." if factors > MIXING_RHAT else "they mix as well."
    return verdict._replace(answer=Answer.DIFFERENT, why=f"R-hat of entries of A is {factors:.2f}: {why}")


def _why_not_mixing(group: RepetitionGroup) -> str:
    """Name the quantity with the worst R-hat in the worst repetition, or the ESS if R-hat is good, and divergences."""
    metrics = (result.metrics for result in group.results)
    worst = max(metrics, key=lambda each: np.inf if np.isnan(each["rhat"]) else each["rhat"])
    criterion = "ESS" if worst["rhat"] <= MIXING_RHAT else f"R-hat of {_quantity_name(worst['worst'])}"
    divergences = int(group.per_repetition("divergences").sum())
    ended = f", {counted(divergences, 'draw')} ended in a divergence" if divergences else ""
    return f"Not within {group.fit.size.warmup} + {group.fit.size.draws} iterations, by {criterion}{ended}."


def _quantity_name(quantity: str) -> str:
    return {"lp": "the log density", "sigma": "σ"}.get(quantity, quantity.replace("singular_value", "singular value "))
