"""Fits that differ in their repetition alone, seen together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from manifill.paper.fits import Fit
from manifill.paper.results import Result
from manifill.types import Array

__all__ = ["MANY_DRAWS", "MIXING_ESS", "MIXING_RHAT", "NAMES", "TITLES", "Group", "grouped"]

# Gelman and Rubin's old mark, and some independent draws from each chain: enough to tell moving from standing still.
# Whether intervals can be trusted is a stricter question, which ``converged`` answers.
MIXING_RHAT, MIXING_ESS = 1.1, 10.0

# So few draws of a chain do not show that it mixes; and fewer than so many not that it does not.
FEWEST_DRAWS, MANY_DRAWS = 100, 300

NAMES = {"factors": "Gibbs", "gibbs": "paper's HMC in Gibbs", "joint": "joint (default)"}
TITLES = {"case-1": "case 1", "case-2": "case 2", "case-3": "case 3", "mice": "mice", "movielens": "MovieLens"}


@dataclass(frozen=True)
class Group:
    """The repetitions of a fit."""

    fit: Fit  # the first of them
    results: tuple[Result, ...]

    @property
    def name(self) -> str:
        """Model and sampler, for people."""
        return f"{self.model}, {self.sampler}"

    @property
    def data(self) -> str:
        """The case and the share of its cells."""
        return f"{TITLES[self.fit.case]}, {self.fit.share:.0%}"

    @property
    def model(self) -> str:
        """The model as the paper writes it."""
        return self.fit.model.replace("ABT", "ABᵀ")

    @property
    def sampler(self) -> str:
        """The sampler in words."""
        return NAMES[self.fit.sampler]

    @property
    def place(self) -> tuple[str, float, str]:
        """Where the paper's tables have it."""
        return self.fit.case, self.fit.share, self.fit.model

    def each(self, figure: str) -> Array:
        """Return a figure of every repetition; NaN where it could not be had."""
        return np.array([result.figures[figure] for result in self.results], dtype=np.float64)

    def mean(self, figure: str) -> Array:
        """Return the mean of a figure over repetitions."""
        return np.asarray(self.each(figure).mean(axis=0))

    def median(self, figure: str) -> float:
        """Return the median of a figure over repetitions."""
        return float(np.median(self.each(figure)))

    def spread(self, figure: str) -> float | None:
        """Return the standard deviation of a figure between repetitions, if there are several."""
        return float(self.each(figure).std(ddof=1)) if len(self.results) > 1 else None

    def arrays(self, name: str) -> Array:
        """Return an array of every repetition, (repetition, …)."""
        return np.stack([result.arrays[name] for result in self.results])

    @property
    def mixing(self) -> Array:
        """Which repetitions move through their posterior: by R-hat and ESS of what is identified."""
        return (self.each("rhat") <= MIXING_RHAT) & (self.each("ess") >= MIXING_ESS * self.each("chains"))

    @property
    def mixes(self) -> bool | None:
        """Whether most repetitions do, or None where half of them do or the chains are too short to tell."""
        draws, share = self.fit.size.draws, self.mixing.mean()
        if share > 0.5 and draws >= FEWEST_DRAWS:
            return True
        return False if share < 0.5 and draws >= MANY_DRAWS else None

    @property
    def doubt(self) -> str:
        """Why it is not known whether they mix."""
        if self.mixing.mean() == 0.5:
            return "Half of the repetitions mix."
        return f"{self.fit.size.draws} draws a chain are too few to tell."


def grouped(fits: Iterable[Fit], results: Mapping[str, Result]) -> list[Group]:
    """Return the groups of fits, in the order of the fits."""
    members: dict[str, list[Fit]] = {}
    for fit in fits:
        members.setdefault(fit.group, []).append(fit)
    return [Group(group[0], tuple(results[fit.key] for fit in group)) for group in members.values()]
