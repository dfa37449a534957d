"""A task without any work."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from manifill.paper.tasks import Result

__all__ = ["CountedTask"]


@dataclass(frozen=True)
class CountedTask:
    """A task that appends an x to the file ``marks/key`` when it runs, and fails while ``marks/trap-key`` exists."""

    key: str
    marks: Path
    cost: float = 1.0

    def fraction_done(self, scratch: Path) -> float:
        return 0.25 if (scratch / self.key).exists() else 0.0

    def run(self, scratch: Path) -> Result:
        with (self.marks / self.key).open("a") as file:
            file.write("x")
        if (self.marks / f"trap-{self.key}").exists():
            raise KeyboardInterrupt
        return Result({"name": self.key}, {"array": np.arange(3)})
