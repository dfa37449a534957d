"""The number of iterations and repetitions: the paper's protocol and two shorter ones."""

from dataclasses import dataclass
from typing import NamedTuple

from manifill.paper.cases import Case

__all__ = ["FULL", "QUICK", "USUAL", "Protocol", "Size"]


class Size(NamedTuple):
    """The iterations of a fit, and the number of its repetitions, each with new data and another seed."""

    chains: int
    warmup: int
    draws: int
    repetitions: int

    @property
    def total(self) -> int:
        """The iterations of all chains."""
        return self.chains * (self.warmup + self.draws)

    def iterations(self) -> dict[str, int]:
        """Return the arguments of a fit."""
        return {"chains": self.chains, "warmup": self.warmup, "draws": self.draws}

    def __str__(self) -> str:
        return f"{self.chains}x{self.warmup}+{self.draws}"


@dataclass(frozen=True)
class Protocol:
    """The sizes of all fits.  There are two chains per fit, not one as in the paper, so that R-hat compares chains."""

    name: str
    synthetic: Size
    mice: Size
    movielens: Size
    rank: Size  # of the fits with too many components, which are slow

    def size(self, case: Case) -> Size:
        """Return the size of the fits of a case."""
        if not case.is_real:
            return self.synthetic
        return self.mice if case.name == "mice" else self.movielens


FULL = Protocol(
    "full", Size(2, 2000, 8000, 30), Size(2, 2000, 8000, 10), Size(2, 2000, 8000, 10), Size(2, 2000, 8000, 1)
)
USUAL = Protocol("usual", Size(2, 500, 1000, 3), Size(2, 300, 300, 1), Size(2, 60, 60, 1), Size(2, 300, 300, 1))
QUICK = Protocol("quick", Size(2, 80, 100, 2), Size(2, 6, 6, 1), Size(2, 4, 4, 1), Size(2, 25, 15, 1))
