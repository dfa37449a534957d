"""The interface that every sampler implements."""

from typing import Any, NamedTuple, Protocol, TypeVar

from manifill.base.arrays import Array, Generator
from manifill.base.variables import Variable

__all__ = ["Kernel", "Sampler"]

State = TypeVar("State")
Tuning = TypeVar("Tuning")
Info = TypeVar("Info")


class Kernel(NamedTuple):
    """A compiled function, and example arguments of the types that a chain passes."""

    function: Any
    arguments: tuple[Any, ...]


class Sampler(Protocol[State, Tuning, Info]):
    """The transition kernel of a chain, and its adaptation.

    A *state* holds what the next step needs, an *info* holds diagnostics, and a *tuning* holds what is learned in
    warm-up.  Each is a named tuple of numbers and arrays, never modified in place.
    """

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of a draw."""

    @property
    def statistic_names(self) -> tuple[str, ...]:
        """The keys of ``statistics``."""

    @property
    def classes(self) -> tuple[type, ...]:
        """The classes of named tuples in a state or a tuning, for checkpoints."""

    def kernels(self) -> tuple[Kernel, ...]:
        """Return functions to compile before chains start, slowest first; all others are compiled on first use."""

    def start(self, rng: Generator) -> tuple[State, Tuning]:
        """Return an initial state and an initial tuning."""

    def step(self, rng: Generator, state: State, tuning: Tuning) -> tuple[State, Info]:
        """Return the next state of the chain."""

    def adapt(self, tuning: Tuning, info: Info) -> Tuning:
        """Return the tuning updated after a step of warm-up."""

    def freeze(self, tuning: Tuning) -> Tuning:
        """Return the tuning to keep after warm-up."""

    def draw(self, state: State) -> dict[str, Array]:
        """Return the variables of a state."""

    def statistics(self, state: State, tuning: Tuning, info: Info) -> dict[str, float]:
        """Return the statistics to record for a step, under ArviZ's names if it has them."""
