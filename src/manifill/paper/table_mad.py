"""Table 1: how far predictions of held-out cells are off, and whether the chains mix."""

from collections.abc import Iterable, Sequence

import numpy as np

from manifill.paper.cases import CASES, TRIALS
from manifill.paper.groups import MIXING_ESS, MIXING_RHAT, Group
from manifill.paper.printed import DEVIATIONS
from manifill.paper.section import Answer, Column, Section, Table, Verdict, compared, number
from manifill.types import Vector

__all__ = ["table_mad"]

TEXT = f"""
Absolute deviations of held-out values from the posterior mean, their quantiles averaged over repetitions. The printed
deviations of the synthetic cases are those of predicting zero everywhere, or larger, so they are shown and not aimed
at: there "better" means clearly nearer than predicting zero, and "reproduced" about as near. Elsewhere median and 99 %
quantile are compared. The samplers do not fit one model: "Gibbs" and "paper's HMC in Gibbs" have the paper's models and
its noise prior, with λ learned; "joint (default)" is what people get who change no setting, with a mean, row and column
effects and a noise prior on the data's scale. All start about one standard deviation from the posterior's mode.

A chain mixes where R-hat over all diagnosed quantities (the log density, σ, singular values and entries of X) is at
most {MIXING_RHAT} and their smallest effective sample size at least {MIXING_ESS:.0f} a chain; "converged" is the
package's own verdict, R-hat at most 1.01 and 100 a chain. Every fit has two chains. R-hat and ESS are medians over
repetitions. Without noise 90 % intervals cover more than that, since the prior holds σ above zero. Case 3 has counts
out of {TRIALS}; the paper does not print their number.
"""

# The printed median is about that of predicting zero where it is at least this share of it.
NAIVE = 0.85

WORDS = {Answer.BETTER: "smaller", Answer.REPRODUCED: "the same within 10 %", Answer.WORSE: "larger"}


def table_mad(groups: Sequence[Group]) -> Section:
    """Set deviations and mixing beside the paper's."""
    verdicts = [*map(_deviation, groups), *map(_mixing, groups)]
    table = Table("table-mad", COLUMNS, [_row(group) for group in groups])
    return Section("table-mad", "Table 1: held-out deviations and mixing", TEXT, verdicts, [table])


def _printed(values: Iterable[float]) -> str:
    return "[" + ", ".join(f"{value:g}" for value in values) + "]"


def _listed(values: Iterable[float]) -> str:
    return "[" + ", ".join(f"{value:.3g}" for value in values) + "]"


def _quantiles(of: str) -> tuple[str, ...]:
    return tuple(f"{of} {quantile} %" for quantile in (1, 50, 99))


COLUMNS = (
    Column("data"),
    Column("model"),
    Column("sampler"),
    Column("repetitions"),
    Column("paper 1 %, 50 %, 99 %", _printed, _quantiles("paper")),
    Column("here 1 %, 50 %, 99 %", _listed, _quantiles("here")),
    Column("predicting zero", _listed, _quantiles("predicting zero")),
    Column("RMSE", number),
    Column("± over repetitions", number),
    Column("log density", number),
    Column("CRPS", number),
    Column("90 % cover", lambda share: f"{share:.1%}"),
    Column("R-hat", lambda rhat: f"{rhat:.3f}"),
    Column("ESS", lambda ess: f"{ess:.0f}"),
    Column("divergences"),
    Column("mix", lambda share: f"{share:.0%}"),
    Column("converged", lambda share: f"{share:.0%}"),
)


def _row(group: Group) -> tuple[object, ...]:
    return (
        group.data,
        group.model,
        group.sampler,
        len(group.results),
        DEVIATIONS[group.place],
        tuple(group.mean("deviations").tolist()),
        tuple(group.mean("deviations_from_zero").tolist()),
        float(group.mean("rmse")),
        group.spread("rmse"),
        float(group.mean("log_density")),
        float(group.mean("crps")),
        float(group.mean("coverage")),
        group.median("rhat"),
        group.median("ess"),
        int(group.each("divergences").sum()),
        float(group.mixing.mean()),
        float(group.mean("converged")),
    )


def _deviation(group: Group) -> Verdict:
    paper, here, zero = DEVIATIONS[group.place], group.mean("deviations"), group.mean("deviations_from_zero")
    naive = not CASES[group.fit.case].is_real and paper[1] >= NAIVE * zero[1]
    answer, why = _beside_zero(here, zero) if naive else _beside_paper(here, paper)
    if group.mixes is False:
        why += f" The chains have not mixed (R-hat {group.median('rhat'):.2f})."
    return Verdict(f"Deviations: {group.data}", group.name, _printed(paper), _listed(here), answer, why)


def _beside_zero(here: Vector, zero: Vector) -> tuple[Answer, str]:
    """Judge where the paper's figures are those of predicting zero: they say nothing of a posterior mean."""
    answer, printed = compared(here[1], zero[1]), f"The printed figures are those of predicting zero ({_listed(zero)})"
    if answer is Answer.BETTER:
        return answer, f"{printed} or larger; the posterior mean is nearer."
    if answer is Answer.REPRODUCED:
        return answer, f"{printed}, and so few cells allow hardly more."
    return answer, f"{printed}, and the posterior mean is further off than that."


def _beside_paper(here: Vector, paper: Sequence[float]) -> tuple[Answer, str]:
    """Judge by the median and by the tail; where one is better and the other worse, that is different."""
    middle, tail = compared(here[1], paper[1]), compared(here[2], paper[2])
    why = f"The median is {WORDS[middle]}, the 99 % quantile {WORDS[tail]}."
    if middle is tail or tail is Answer.REPRODUCED:
        return middle, why
    return (tail if middle is Answer.REPRODUCED else Answer.DIFFERENT), why


def _mixing(group: Group) -> Verdict:
    baseline, size = group.fit.model == "ABT", group.fit.size
    figures = f"R-hat {group.median('rhat'):.3f}, ESS {group.median('ess'):.0f}"
    here = f"{group.mixing.sum()} of {group.mixing.size} mix ({figures})"
    verdict = Verdict(
        f"Mixing: {group.data}",
        group.name,
        "does not mix" if baseline else "mixes",
        here,
        Answer.REPRODUCED,
        f"In {size.draws} draws after {size.warmup}.",
    )
    if group.mixes is None:
        return verdict._replace(answer=Answer.UNDECIDED, why=group.doubt)
    if group.mixes != baseline:
        return verdict
    if not baseline:
        return verdict._replace(answer=Answer.WORSE, why=_why_not(group))
    factors = group.median("rhat_of_factors")
    why = "only A Bᵀ is identified, and that mixes." if factors > MIXING_RHAT else "and so do entries of A."
    return verdict._replace(answer=Answer.DIFFERENT, why=f"R-hat of entries of A is {factors:.2f}: {why}")


def _why_not(group: Group) -> str:
    """Name the quantity that is worst in the worst repetition, or the ESS where R-hat is good, and divergences."""
    figures = (result.figures for result in group.results)
    worst = max(figures, key=lambda found: np.inf if np.isnan(found["rhat"]) else found["rhat"])
    by = "ESS" if worst["rhat"] <= MIXING_RHAT else f"R-hat of {_in_words(worst['worst'])}"
    divergences = int(group.each("divergences").sum())
    ended = f", {divergences} draws ended in a divergence" if divergences else ""
    return f"Not within {group.fit.size.warmup} + {group.fit.size.draws} iterations, by {by}{ended}."


def _in_words(quantity: str) -> str:
    return {"lp": "the log density", "sigma": "σ"}.get(quantity, quantity.replace("singular_value", "singular value "))
