"""Groups of fits that differ only in their repetition, and statistics over the repetitions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from manifill.base.arrays import Array
from manifill.paper.fit_task import Fit
from manifill.paper.tasks import Result

__all__ = [
    "CASE_TITLES",
    "MANY_DRAWS",
    "MIXING_ESS",
    "MIXING_RHAT",
    "RepetitionGroup",
    "group_repetitions",
]

# The traditional R-hat threshold of Gelman and Rubin, and a minimal ESS per chain: they detect chains that are stuck.
# Whether intervals can be trusted is a stricter question, which ``converged`` answers.
MIXING_RHAT, MIXING_ESS = 1.1, 10.0

# Fewer draws per chain than the first number do not show that a chain mixes; fewer than the second do not show that it
# fails to mix.
FEWEST_DRAWS, MANY_DRAWS = 100, 300

SAMPLER_NAMES = {"factors": "Gibbs", "gibbs": "paper's HMC in Gibbs", "joint": "joint (default)"}
CASE_TITLES = {"case-1": "case 1", "case-2": "case 2", "case-3": "case 3", "mice": "mice", "movielens": "MovieLens"}


@dataclass(frozen=True)
class RepetitionGroup:
    """The results of a fit and of its repetitions."""

    fit: Fit  # the first repetition
    results: tuple[Result, ...]

    @property
    def name(self) -> str:
        """Model and sampler, as displayed."""
        return f"{self.model}, {self.sampler}"

    @property
    def data(self) -> str:
        """The case and its share of training cells, as displayed."""
        return f"{CASE_TITLES[self.fit.case]}, {self.fit.share:.0%}"

    @property
    def model(self) -> str:
        """The model in the notation of the paper."""
        return self.fit.model.replace("ABT", "ABᵀ")

    @property
    def sampler(self) -> str:
        """The sampler, as displayed."""
        return SAMPLER_NAMES[self.fit.sampler]

    @property
    def table_key(self) -> tuple[str, float, str]:
        """The key of this fit in the published tables."""
        return self.fit.case, self.fit.share, self.fit.model

    def per_repetition(self, metric: str) -> Array:
        """Return a metric of every repetition; NaN if it is missing."""
        return np.array([result.metrics[metric] for result in self.results], dtype=np.float64)

    def mean(self, metric: str) -> Array:
        """Return the mean of a metric over repetitions."""
        return np.asarray(self.per_repetition(metric).mean(axis=0))

    def median(self, metric: str) -> float:
        """Return the median of a metric over repetitions."""
        return float(np.median(self.per_repetition(metric)))

    def spread(self, metric: str) -> float | None:
        """Return the standard deviation of a metric over repetitions, or None if there is only one."""
        return float(self.per_repetition(metric).std(ddof=1)) if len(self.results) > 1 else None

    def arrays(self, name: str) -> Array:
        """Return an array of every repetition, (repetition, …)."""
        return np.stack([result.arrays[name] for result in self.results])

    @property
    def mixing(self) -> Array:
        """Whether each repetition mixes, by R-hat and ESS of the identified quantities, (repetition,)."""
        rhat, ess, chains = (self.per_repetition(metric) for metric in ("rhat", "ess", "chains"))
        return (rhat <= MIXING_RHAT) & (ess >= MIXING_ESS * chains)

    @property
    def mixes(self) -> bool | None:
        """Whether most repetitions mix; None if exactly half of them do or the chains are too short to decide."""
        draws, share = self.fit.size.draws, self.mixing.mean()
        if share > 0.5 and draws >= FEWEST_DRAWS:
            return True
        return False if share < 0.5 and draws >= MANY_DRAWS else None

    @property
    def why_undecided(self) -> str:
        """Why ``mixes`` is None."""
        if self.mixing.mean() == 0.5:
            return "Half of the repetitions mix."
        return f"{self.fit.size.draws} draws per chain are too few to decide."


def group_repetitions(fits: Iterable[Fit], results: Mapping[str, Result]) -> list[RepetitionGroup]:
    """Return the groups of fits, in the order of the fits."""
    members: dict[str, list[Fit]] = {}
    for fit in fits:
        members.setdefault(fit.group_name, []).append(fit)
    return [RepetitionGroup(group[0], tuple(results[fit.key] for fit in group)) for group in members.values()]
