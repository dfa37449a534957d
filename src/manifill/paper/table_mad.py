"""Table 1: how far predictions of held-out cells are off, and whether the chains mix."""

from collections.abc import Iterable, Sequence

from manifill.paper.groups import MIXING_ESS, MIXING_RHAT, Group
from manifill.paper.printed import DEVIATIONS
from manifill.paper.section import Answer, Section, Table, Verdict, compared

__all__ = ["table_mad"]

TEXT = f"""
Absolute deviations of held-out values from the posterior mean, their quantiles averaged over repetitions. The printed
deviations of the synthetic cases are close to those of predicting zero everywhere, so they are shown and not aimed at.
A chain mixes where R-hat over all diagnosed quantities (the log density, σ, singular values and entries of X) is at
most {MIXING_RHAT} and their smallest effective sample size at least {MIXING_ESS:.0f} a chain; "converged" is the
package's own verdict, R-hat at most 1.01 and 100 a chain. Every fit has two chains.
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
        _listed(DEVIATIONS[group.place]),
        _listed(group.mean("deviations")),
        _listed(group.mean("deviations_from_zero")),
        f"{group.mean('rmse'):.4g}",
        f"{group.mean('log_density'):.4g}",
        f"{group.mean('crps'):.4g}",
        f"{group.mean('coverage'):.1%}",
        f"{group.mean('rhat'):.3f}",
        f"{group.mean('ess'):.0f}",
        "yes" if group.mixes else "no",
        f"{group.mean('converged'):.0%}",
    )


def _deviation(group: Group) -> Verdict:
    paper, here = DEVIATIONS[group.place], group.mean("deviations")
    answer = compared(float(here[1]), paper[1])
    return Verdict(f"{group.name}: deviations", _listed(paper), _listed(here), answer, _why_deviation(group, answer))


def _why_deviation(group: Group, answer: Answer) -> str:
    zero = float(group.mean("deviations_from_zero")[1])
    printed = DEVIATIONS[group.place][1]
    if answer is Answer.REPRODUCED:
        return "The medians agree within 10 %."
    if answer is Answer.BETTER and abs(printed - zero) <= 0.15 * zero:
        return f"The printed median is about that of predicting zero ({zero:.2g}); the posterior mean is nearer."
    if answer is Answer.BETTER:
        return "The posterior mean of a chain near its stationary distribution is nearer."
    if not group.mixes:
        return f"The chains have not mixed in {group.fit.size.draws} draws (R-hat {group.mean('rhat'):.2f})."
    return "The chains mix, so this is what the model and its priors say of so few cells."


def _mixing(group: Group) -> Verdict:
    baseline = group.fit.model == "ABT"
    paper = "does not mix" if baseline else "mixes"
    here = f"{'mixes' if group.mixes else 'does not mix'} (R-hat {group.mean('rhat'):.3f}, ESS {group.mean('ess'):.0f})"
    if group.mixes != baseline:
        return Verdict(f"{group.name}: mixing", paper, here, Answer.REPRODUCED, "As printed.")
    if baseline:
        factors = (
            f"Entries of A do not (R-hat {group.mean('rhat_of_factors'):.2f}): only A Bᵀ is identified, and it mixes."
        )
        return Verdict(f"{group.name}: mixing", paper, here, Answer.DIFFERENT, factors)
    draws = f"Not within {group.fit.size.warmup} + {group.fit.size.draws} iterations, by R-hat of {_worst(group)}."
    return Verdict(f"{group.name}: mixing", paper, here, Answer.WORSE, draws)


def _worst(group: Group) -> str:
    return str(max(group.results, key=lambda result: result.figures["rhat"]).figures["worst"])


def _listed(values: Iterable[float]) -> str:
    return "[" + ", ".join(f"{value:.2g}" for value in values) + "]"
