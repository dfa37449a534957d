"""The paper's numerical results, from the package's own front door: ``manifill reproduce``."""

from manifill.paper.protocol import FULL, QUICK, USUAL, Protocol, Size
from manifill.paper.reproduce import EXPERIMENTS, reproduce

__all__ = ["EXPERIMENTS", "FULL", "QUICK", "USUAL", "Protocol", "Size", "reproduce"]
