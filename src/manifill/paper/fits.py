"""One fit of a model to a case, through the package's own front door, and what is kept of it."""

import shutil
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manifill.estimator import ConvergenceWarning, MatrixCompletion
from manifill.paper.cases import CASES, TRIALS, Case
from manifill.paper.protocol import Protocol, Size
from manifill.paper.results import Result
from manifill.paper.summary import summary
from manifill.problem import Observations
from manifill.runs import CannotResumeError, RunFolder

__all__ = ["SAMPLERS", "Fit", "check_data", "fits", "fitted", "share_done"]

LIKELIHOODS = {"ABT": "gaussian", "SVD": "gaussian", "S-SVD": "softplus", "B-SVD": "binomial"}

# Milliseconds that an iteration takes, roughly: on a synthetic case, with the mice, with MovieLens, and with too many
# components.  Only what is run first depends on them, and the time that is said to be left.
COSTS = {"factors": (0.4, 6.0, 40.0, 1.0), "gibbs": (20.0, 1000.0, 1000.0, 200.0), "joint": (10.0, 60.0, 500.0, 150.0)}

# ABᵀ by its exact conditionals; the paper's sampler on the paper's model; and what people get who change no setting.
SAMPLERS: dict[str, dict[str, Any]] = {
    "factors": {"noise_prior": "paper"},
    "gibbs": {"effects": None, "column_scales": None, "noise_prior": "paper"},
    "joint": {},
}


@dataclass(frozen=True)
class Fit:
    """A model of a case, fitted by a sampler to a share of its cells; data, split and chains follow the repetition."""

    case: str
    share: float
    model: str
    sampler: str
    repetition: int
    size: Size
    rank: int | None = None  # that of the case; another is fitted without effects, for its singular values

    @property
    def group(self) -> str:
        """The name that it shares with its repetitions."""
        rank = "" if self.rank is None else f"_rank-{self.rank}"
        return f"{self.case}_{round(100 * self.share)}_{self.model}_{self.sampler}{rank}"

    @property
    def key(self) -> str:
        return f"{self.group}_{self.size}_{self.repetition:02d}"

    @property
    def cost(self) -> float:
        synthetic, mice, movielens, oversized = COSTS[self.sampler]
        each = {"mice": mice, "movielens": movielens}.get(self.case, synthetic)
        return self.size.total * (each if self.rank is None else oversized)

    def share_done(self, scratch: Path) -> float:
        return share_done(scratch / self.key, self.size)

    def run(self, scratch: Path) -> Result:
        case, folder = CASES[self.case], scratch / self.key
        train, held_out = case.split(self.share, self.repetition)
        return summary(fitted(self._settings(case), self.repetition, train, folder), held_out)

    def _settings(self, case: Case) -> dict[str, Any]:
        likelihood = LIKELIHOODS[self.model]
        settings = {"sampler": self.sampler, "likelihood": likelihood, "rank": case.rank, **SAMPLERS[self.sampler]}
        if likelihood == "binomial":
            settings |= {"trials": TRIALS}
            settings.pop("noise_prior", None)
        if self.rank is not None:
            settings |= {"rank": self.rank, "effects": None}
        return settings | self.size.iterations()


def fitted(settings: dict[str, Any], seed: int, train: Observations, folder: Path) -> MatrixCompletion:
    """Fit, or go on with the fit in ``folder``; one that cannot be gone on with is begun anew."""
    model = MatrixCompletion(**settings, path=folder, seed=seed, jobs=1, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # how the chains mix is one of the results
        try:
            model.fit(*train.triples(), shape=train.shape, resume=folder.exists())
        except CannotResumeError:  # what a stop in the middle of something else has left
            shutil.rmtree(folder, ignore_errors=True)
            model.fit(*train.triples(), shape=train.shape)
    if (model.posterior_.chains, model.posterior_.draws) != (model.chains, model.draws):
        raise KeyboardInterrupt("stopped; the same command goes on")
    return model


def share_done(folder: Path, size: Size) -> float:
    """Return which share of its iterations the fit in ``folder`` has gone, up to its last checkpoints."""
    return RunFolder(folder).iterations() / size.total


def check_data(tasks: Iterable[object]) -> None:
    """Load the real data that tasks need, once and before anything is run: they may not be there."""
    for case, share in {(task.case, task.share) for task in tasks if isinstance(task, Fit)}:
        if CASES[case].is_real:
            CASES[case].split(share, 0)


def fits(protocol: Protocol, cases: tuple[str, ...]) -> list[Fit]:
    """Return every fit of Tables 1 and 2."""
    return [
        Fit(case.name, share, model, sampler, repetition, protocol.size(case))
        for case in (CASES[name] for name in cases)
        for share in case.shares
        for model in case.models
        for sampler in (("factors",) if model == "ABT" else ("gibbs", "joint"))
        for repetition in range(protocol.size(case).repetitions)
    ]
