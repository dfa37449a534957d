"""The MAP estimate is the nuclear-norm solution: two solvers that share no code agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from manifill.map import map_estimate
from manifill.paper.cases import CASES, TRIALS
from manifill.paper.groups import TITLES
from manifill.paper.proximal import nuclear_norm_solution, objective
from manifill.paper.results import Result
from manifill.paper.section import Answer, Column, Section, Table, Verdict, number

__all__ = ["Mode", "map_section", "modes"]

AGREEMENT, SHARE = 1e-6, 0.4
PENALTIES = {"gaussian": 5.0, "softplus": 2.0, "binomial": 5.0}

FIGURES = ("rank", "nuclear_norm", "difference", "objective_difference")
COLUMNS = (
    *(Column("problem"), Column("λ"), Column("rank"), Column("nuclear norm", number)),
    *(Column(title, lambda apart: f"{apart:.1e}") for title in ("‖X − X′‖ / ‖X′‖", "objectives apart")),
)

TEXT = f"""
`manifill.map_estimate` with λ and σ given and without effects, beside an accelerated proximal gradient method written
for this comparison alone (a full singular value decomposition a step, no code shared): ‖X − X′‖ / ‖X′‖, and how far
their objectives are apart. They agree if both are below {AGREEMENT:g}.
"""


@dataclass(frozen=True)
class Mode:
    """Both solutions of one penalised likelihood."""

    case: str
    likelihood: str

    @property
    def key(self) -> str:
        return f"map_{self.case}_{self.likelihood}"

    @property
    def cost(self) -> float:
        return 20_000.0

    def share_done(self, scratch: Path) -> float:
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


def modes(cases: tuple[str, ...]) -> list[Mode]:
    """Return a task for each likelihood, on the case that it is meant for."""
    every = (Mode("case-1", "gaussian"), Mode("case-2", "softplus"), Mode("case-3", "binomial"))
    return [mode for mode in every if mode.case in cases]


def map_section(tasks: Sequence[Mode], results: Mapping[str, Result]) -> Section:
    """Judge the agreement."""
    verdicts, rows = [], []
    for task in tasks:
        figures = results[task.key].figures
        name = f"{TITLES[task.case]}, {SHARE:.0%}, {task.likelihood}"
        apart = max(figures["difference"], figures["objective_difference"])
        answer = Answer.REPRODUCED if apart <= AGREEMENT else Answer.WORSE
        why = "Two independent solvers agree." if apart <= AGREEMENT else "One of them has not reached the minimum."
        verdicts.append(Verdict("MAP", name, "MAP = nuclear-norm solution", f"apart by {apart:.1g}", answer, why))
        rows.append((name, PENALTIES[task.likelihood], *(figures[key] for key in FIGURES)))
    return Section("map", "MAP and nuclear norm", TEXT, verdicts, [Table("map", COLUMNS, rows)])
