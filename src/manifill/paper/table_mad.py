"""Table 1: how far predictions of held-out cells are off, and whether the chains mix."""

from collections.abc import Iterable, Sequence

import numpy as np

from manifill.paper.cases import TRIALS
from manifill.paper.groups import MIXING_ESS, MIXING_RHAT, Group
from manifill.paper.printed import DEVIATIONS
from manifill.paper.section import Answer, Section, Table, Verdict, compared

__all__ = ["table_mad"]

TEXT = f"""
Absolute deviations of held-out values from the posterior mean, their quantiles averaged over repetitions. The printed
deviations of the synthetic cases are close to those of predicting zero everywhere, so they are shown and not aimed at.
A chain mixes where R-hat over all diagnosed quantities (the log density, σ, singular values and entries of X) is at
most {MIXING_RHAT} and their smallest effective sample size at least {MIXING_ESS:.0f} a chain; "converged" is the
package's own verdict, R-hat at most 1.01 and 100 a chain. Every fit has two chains. R-hat and ESS are medians over
repetitions. Case 3 has counts out of {TRIALS}; the paper does not print their number.
"""

COLUMNS = (
    *("data", "model", "sampler", "repetitions", "paper 1 %, 50 %, 99 %", "here 1 %, 50 %, 99 %"),
    *("predicting zero", "RMSE", "log density", "CRPS", "90 % cover", "R-hat", "ESS", "mixes", "converged"),
)


def table_mad(groups: Sequence[Group]) -> Section:
    """Set deviations and mixing beside the paper's."""
    verdicts = [verdict for group in groups for verdict in (_deviation(group), _mixing(group))]
    table = Table("table-mad", COLUMNS, [_row(group) for group in groups])
    return Section("table-mad", "Table 1: held-out deviations and mixing", TEXT, verdicts, [table])


def _row(group: Group) -> tuple[object, ...]:
    return (
        group.data,
        group.model,
        group.sampler,
        len(group.results),
        _printed(DEVIATIONS[group.place]),
        _listed(group.mean("deviations")),
        _listed(group.mean("deviations_from_zero")),
        f"{group.mean('rmse'):.4g}",
        f"{group.mean('log_density'):.4g}",
        f"{group.mean('crps'):.4g}",
        f"{group.mean('coverage'):.1%}",
        f"{group.median('rhat'):.3f}",
        f"{group.median('ess'):.0f}",
        f"{group.mixing.mean():.0%}",
        f"{group.mean('converged'):.0%}",
    )


def _deviation(group: Group) -> Verdict:
    paper, here = DEVIATIONS[group.place], group.mean("deviations")
    answer = compared(float(here[1]), paper[1])
    return Verdict(f"{group.name}: deviations", _printed(paper), _listed(here), answer, _why_deviation(group, answer))


def _why_deviation(group: Group, answer: Answer) -> str:
    zero = float(group.mean("deviations_from_zero")[1])
    printed = DEVIATIONS[group.place][1]
    stage = "" if group.mixes else f" The chains have not mixed yet (R-hat {group.median('rhat'):.2f})."
    if answer is Answer.REPRODUCED:
        return "The medians agree within 10 %." + stage
    if answer is Answer.BETTER and abs(printed - zero) <= 0.15 * zero:
        return (
            f"The printed median is about that of predicting zero ({zero:.2g}); the posterior mean is nearer." + stage
        )
    if answer is Answer.BETTER:
        return "The posterior mean is nearer." + stage
    return stage.strip() or "The chains mix, so this is what the model and its priors say of so few cells."


def _mixing(group: Group) -> Verdict:
    baseline = group.fit.model == "ABT"
    name, paper = f"{group.name}: mixing", "does not mix" if baseline else "mixes"
    figures = f"R-hat {group.median('rhat'):.3f}, ESS {group.median('ess'):.0f}"
    repetitions = f", {group.mixing.sum()} of {group.mixing.size} repetitions" if group.mixing.size > 1 else ""
    here = f"{'mixes' if group.mixes else 'does not mix'} ({figures}{repetitions})"
    size = group.fit.size
    if not group.is_long_enough:
        return Verdict(name, paper, here, Answer.UNDECIDED, f"{size.draws} draws a chain are too few to tell.")
    if group.mixes != baseline:
        return Verdict(name, paper, here, Answer.REPRODUCED, f"In {size.draws} draws after {size.warmup}.")
    if not baseline:
        why = f"Not within {size.warmup} + {size.draws} iterations, by R-hat of {_worst(group)}."
        return Verdict(name, paper, here, Answer.WORSE, why)
    factors = group.median("rhat_of_factors")
    why = "only A Bᵀ is identified, and that mixes." if factors > MIXING_RHAT else "and so do entries of A."
    return Verdict(name, paper, here, Answer.DIFFERENT, f"R-hat of entries of A is {factors:.2f}: {why}")


def _worst(group: Group) -> str:
    figures = (result.figures for result in group.results)
    return str(max(figures, key=lambda found: np.inf if np.isnan(found["rhat"]) else found["rhat"])["worst"])


def _printed(values: Iterable[float]) -> str:
    return "[" + ", ".join(f"{value:g}" for value in values) + "]"


def _listed(values: Iterable[float]) -> str:
    return "[" + ", ".join(f"{value:.3g}" for value in values) + "]"
