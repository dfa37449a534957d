"""Comparison of the MAP estimate with the nuclear-norm solution of an independent solver."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from manifill.estimators.map_estimate import map_estimate
from manifill.paper.cases import CASES, TRIALS
from manifill.paper.nuclear_norm_solver import nuclear_norm_solution, objective
from manifill.paper.page_section import Section
from manifill.paper.repetition_groups import CASE_TITLES
from manifill.paper.result_table import Column, Table, format_number
from manifill.paper.tasks import Result
from manifill.paper.verdict import Answer, Verdict

__all__ = ["MapComparison", "map_comparisons", "map_section"]

AGREEMENT, SHARE = 1e-6, 0.4
PENALTIES = {"gaussian": 5.0, "softplus": 2.0, "binomial": 5.0}

METRICS = ("rank", "nuclear_norm", "difference", "objective_difference")
COLUMNS = (
    *(Column("problem"), Column("λ"), Column("rank"), Column("nuclear norm", format_number)),
    *(Column(title, lambda value: f"{value:.1e}") for title in ("‖X − X′‖ / ‖X′‖", "difference of objectives")),
)

TEXT = f"""
`manifill.map_estimate` with given λ and σ and without effects, compared with an accelerated proximal gradient method
that was written for this comparison only and shares no code with it (a full singular value decomposition per step). The
relative differences ‖X − X′‖ / ‖X′‖ and of the objectives must both be below {AGREEMENT:g}.
"""


@dataclass(frozen=True)
class MapComparison:
    """The task of maximising one penalised likelihood with both solvers."""

    case: str
    likelihood: str

    @property
    def key(self) -> str:
        return f"map_{self.case}_{self.likelihood}"

    @property
    def cost(self) -> float:
        return 20_000.0

    def fraction_done(self, scratch: Path) -> float:
        return 0.0

    def run(self, scratch: Path) -> Result:
        train, _ = CASES[self.case].split(SHARE, 0)
        rows, cols, y = train.triples()
        penalty = PENALTIES[self.likelihood]
        settings = {"trials": TRIALS} if self.likelihood == "binomial" else {"sigma": 1.0}
        found = map_estimate(
            *(rows, cols, y),
            shape=train.shape,
            likelihood=self.likelihood,
            lambda_=penalty,
            effects=None,
            tolerance=1e-9,
            **settings,
        )
        ours = (found.U * found.s) @ found.V.T
        theirs = nuclear_norm_solution(self.likelihood, train.shape, rows, cols, y, penalty)
        values = [objective(self.likelihood, X, rows, cols, y, penalty) for X in (ours, theirs)]
        return Result(
            {
                "difference": float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)),
                "objective_difference": abs(values[0] - values[1]) / abs(values[1]),
                "rank": int(np.sum(found.s > 0.0)),
                "nuclear_norm": float(found.s.sum()),
            },
            {},
        )


def map_comparisons(cases: tuple[str, ...]) -> list[MapComparison]:
    """Return a task for each likelihood, with the case that it was designed for."""
    likelihoods = {"case-1": "gaussian", "case-2": "softplus", "case-3": "binomial"}
    return [MapComparison(case, likelihood) for case, likelihood in likelihoods.items() if case in cases]


def map_section(tasks: Sequence[MapComparison], results: Mapping[str, Result]) -> Section:
    """Judge whether the two solvers agree."""
    verdicts, rows = [], []
    for task in tasks:
        metrics = results[task.key].metrics
        name = f"{CASE_TITLES[task.case]}, {SHARE:.0%}, {task.likelihood}"
        difference = max(metrics["difference"], metrics["objective_difference"])
        agree = difference <= AGREEMENT
        answer = Answer.REPRODUCED if agree else Answer.WORSE
        why = "Two independent solvers agree." if agree else "One of the solvers has not reached the minimum."
        here = f"relative difference {difference:.1g}"
        verdicts.append(Verdict("MAP", name, "MAP = nuclear-norm solution", here, answer, why))
        rows.append((name, PENALTIES[task.likelihood], *(metrics[key] for key in METRICS)))
    return Section("map", "MAP and nuclear norm", TEXT, verdicts, [Table("map", COLUMNS, rows)])
