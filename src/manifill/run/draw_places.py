"""Where the draws of a fit go: into memory, or into a run directory."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from manifill.posterior import ChainRecord, Draws
from manifill.posterior.growing_draws import GrowingDraws
from manifill.run.attributes import GOAL
from manifill.run.folder import RunFolder
from manifill.run.resume import extend
from manifill.sampling.chains import Plan
from manifill.sampling.checkpoint import next_iteration

__all__ = ["InMemory", "OnDisk", "Place"]


class Place(Protocol):
    """Holds the draws of chains that are run in several stretches."""

    def drawn(self) -> int:
        """Return how many draws every chain has, when a fit begins."""

    def set_goal(self, goal: int) -> None:
        """Note that the run is to have this many draws per chain; without them, it was interrupted."""

    def add(self, records: Sequence[ChainRecord]) -> None:
        """Take the records of a stretch."""

    def draws(self) -> Draws:
        """Return all draws so far."""


class InMemory:
    """Holds the draws of a new run in memory."""

    def __init__(self, attributes: dict[str, Any], goal: int) -> None:
        self._attributes = attributes
        self._growing = GrowingDraws()
        self.set_goal(goal)

    def drawn(self) -> int:
        return 0

    def set_goal(self, goal: int) -> None:
        self._goal = goal

    def add(self, records: Sequence[ChainRecord]) -> None:
        self._growing.add(records)

    def draws(self) -> Draws:
        return self._growing.draws(self._attributes | {GOAL: self._goal})


class OnDisk(NamedTuple):
    """A run directory, into which chains write themselves."""

    run: RunFolder
    plan: Plan
    settings: dict[str, Any]  # to store

    def drawn(self) -> int:
        """Return the draws up to the checkpoints: those after them are drawn again, and so is a chain without one."""
        files = [self.plan.checkpoint(chain) for chain in range(self.plan.chains)]
        return max(min(next_iteration(file) for file in files if file is not None) - self.plan.warmup, 0)

    def set_goal(self, goal: int) -> None:
        extend(self.run, self.settings, goal)

    def add(self, records: Sequence[ChainRecord]) -> None:
        """Do nothing: the draws are on disk already."""

    def draws(self) -> Draws:
        return Draws.open(self.run.draws)
