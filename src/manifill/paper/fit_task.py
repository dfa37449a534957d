"""The task of fitting one model to one case through the public estimator."""

import secrets
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manifill.base.errors import CannotResumeError
from manifill.estimators.matrix_completion import ConvergenceWarning, MatrixCompletion
from manifill.paper.cases import CASES, TRIALS, Case
from manifill.paper.fit_summary import fit_summary
from manifill.paper.protocol import Protocol, Size
from manifill.paper.tasks import Result
from manifill.problem import Observations
from manifill.run.folder import RunFolder

__all__ = ["Fit", "check_data", "fit_or_resume", "fraction_done", "table_fits"]

LIKELIHOODS = {"ABT": "gaussian", "SVD": "gaussian", "S-SVD": "softplus", "B-SVD": "binomial"}

# Approximate milliseconds per iteration: for a synthetic case, the mice, MovieLens, and the fits with too many
# components.  Only the order of the tasks and the displayed remaining time depend on them.
COSTS = {"factors": (0.4, 6.0, 40.0, 1.0), "gibbs": (20.0, 1000.0, 1000.0, 200.0), "joint": (10.0, 60.0, 500.0, 150.0)}

# The Gibbs sampler of ABᵀ; the paper's sampler with the paper's model; the default settings of the package.
SAMPLER_SETTINGS: dict[str, dict[str, Any]] = {
    "factors": {"effects": None, "noise_prior": "paper"},
    "gibbs": {"effects": None, "column_scales": None, "noise_prior": "paper"},
    "joint": {},
}


@dataclass(frozen=True)
class Fit:
    """A model fitted by a sampler to a share of the cells of a case; the repetition is the seed of everything."""

    case: str
    share: float
    model: str
    sampler: str
    repetition: int
    size: Size
    rank: int | None = None  # None: the rank of the case; any other rank is fitted without effects, for ``fig-rank``

    @property
    def group_name(self) -> str:
        """The name that all repetitions of this fit share."""
        rank = "" if self.rank is None else f"_rank-{self.rank}"
        return f"{self.case}_{round(100 * self.share)}_{self.model}_{self.sampler}{rank}"

    @property
    def key(self) -> str:
        return f"{self.group_name}_{self.size}_{self.repetition:02d}"

    @property
    def cost(self) -> float:
        synthetic, mice, movielens, oversized = COSTS[self.sampler]
        per_iteration = {"mice": mice, "movielens": movielens}.get(self.case, synthetic)
        return self.size.total * (per_iteration if self.rank is None else oversized)

    def fraction_done(self, scratch: Path) -> float:
        return fraction_done(scratch / self.key, self.size)

    def run(self, scratch: Path) -> Result:
        case, folder = CASES[self.case], scratch / self.key
        train, held_out = case.split(self.share, self.repetition)
        return fit_summary(fit_or_resume(self._settings(case), self.repetition, train, folder), held_out)

    def _settings(self, case: Case) -> dict[str, Any]:
        likelihood = LIKELIHOODS[self.model]
        settings = {
            "sampler": self.sampler,
            "likelihood": likelihood,
            "rank": case.rank,
            "off_components": "keep",
            **SAMPLER_SETTINGS[self.sampler],
        }
        if likelihood == "binomial":
            settings |= {"trials": TRIALS}
            settings.pop("noise_prior", None)
        if self.rank is not None:
            settings |= {"rank": self.rank, "effects": None}
        return settings | self.size.iterations()


def fit_or_resume(settings: dict[str, Any], seed: int, train: Observations, folder: Path) -> MatrixCompletion:
    """Fit, or resume the fit in ``folder``; one that cannot be resumed is set aside and begun again."""
    model = MatrixCompletion(**settings, path=folder, seed=seed, jobs=1, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # mixing is one of the results
        try:
            model.fit(*train.triples(), shape=train.shape, resume=folder.exists())
        except CannotResumeError as error:  # of another version, damaged, or stopped in the middle of something else
            aside = folder.with_name(f"{folder.name}-set-aside-{secrets.token_hex(4)}")
            print(f"manifill: {error} What there is of it is now in {aside}.", file=sys.stderr, flush=True)
            folder.rename(aside)
            model.fit(*train.triples(), shape=train.shape)
    if (model.posterior_.chains, model.posterior_.draws) != (model.chains, model.draws):
        raise KeyboardInterrupt("stopped; run the same command again to resume")
    return model


def fraction_done(folder: Path, size: Size) -> float:
    """Return the completed fraction of the iterations of the fit in ``folder``, up to its last checkpoints."""
    return RunFolder(folder).iterations() / size.total


def check_data(tasks: Iterable[object]) -> None:
    """Load the real data that tasks need, so that missing data raise an error before anything is run."""
    for case, share in {(task.case, task.share) for task in tasks if isinstance(task, Fit)}:
        if CASES[case].is_real:
            CASES[case].split(share, 0)


def table_fits(protocol: Protocol, cases: tuple[str, ...]) -> list[Fit]:
    """Return all fits of Tables 1 and 2."""
    return [
        Fit(case.name, share, model, sampler, repetition, protocol.size(case))
        for case in (CASES[name] for name in cases)
        for share in case.shares
        for model in case.models
        for sampler in (("factors",) if model == "ABT" else ("gibbs", "joint"))
        for repetition in range(protocol.size(case).repetitions)
    ]
