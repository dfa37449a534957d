"""What every sampler offers to the chains that run it."""

from typing import Protocol, TypeVar

from manifill.posterior.variables import Variable
from manifill.types import Array, Generator

__all__ = ["Sampler"]

State = TypeVar("State")
Tuning = TypeVar("Tuning")
Info = TypeVar("Info")


class Sampler(Protocol[State, Tuning, Info]):
    """A chain's kernel.

    A *state* is what the next step needs, an *info* what only a diagnostic needs, and a *tuning* what warm-up learns;
    each is a named tuple of numbers and arrays that no step changes in place.
    """

    @property
    def variables(self) -> tuple[Variable, ...]:
        """What a draw holds."""

    @property
    def statistic_names(self) -> tuple[str, ...]:
        """The keys of ``statistics``."""

    @property
    def classes(self) -> tuple[type, ...]:
        """The named tuples that a state or a tuning is made of, for checkpoints."""

    def start(self, rng: Generator) -> tuple[State, Tuning]:
        """Return a first state and a first guess at the tuning."""

    def step(self, rng: Generator, state: State, tuning: Tuning) -> tuple[State, Info]:
        """Return the next state of the chain."""

    def adapt(self, tuning: Tuning, info: Info) -> Tuning:
        """Return a better tuning after a step of warm-up."""

    def freeze(self, tuning: Tuning) -> Tuning:
        """Return the tuning to keep after warm-up."""

    def draw(self, state: State) -> dict[str, Array]:
        """Return the variables of a state."""

    def statistics(self, state: State, tuning: Tuning, info: Info) -> dict[str, float]:
        """Return what to record of a step, under ArviZ's names where it has them."""
