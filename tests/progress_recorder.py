"""A listener that keeps all reports of progress."""

from typing import Any, NamedTuple

__all__ = ["Phase", "Recorder"]


class Phase(NamedTuple):
    """What was reported of one phase."""

    name: str
    unit: str
    guess: float
    then: float
    totals: list[float]  # the first one, and those that were expected later
    counts: list[float]  # after each report
    doing: list[str]

    @property
    def total(self) -> float:
        """What was expected at the end."""
        return self.totals[-1]

    @property
    def largest_step(self) -> float:
        """The largest increase of the count, as a share of the total."""
        return (
            max(later - earlier for earlier, later in zip([0.0, *self.counts], self.counts, strict=False)) / self.total
        )


class Recorder:
    """Keeps the phases in their order."""

    def __init__(self) -> None:
        self.phases: list[Phase] = []
        self.notes: list[str] = []

    def begin(self, phase: str, total: float | None, unit: str, guess: float, then: float) -> None:
        self.phases.append(Phase(phase, unit, guess, then, [total or 0.0], [], []))

    def advance(self, amount: float, doing: str) -> None:
        present = self.phases[-1]
        present.counts.append((present.counts[-1] if present.counts else 0.0) + amount)
        present.doing.append(doing)

    def expect(self, more: float) -> None:
        self.phases[-1].totals.append(self.phases[-1].total + more)

    def watch(self, rows: Any) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        self.notes.append(text)

    def phase(self, name: str) -> Phase:
        """Return the only phase of this name."""
        (found,) = (phase for phase in self.phases if phase.name == name)
        return found
