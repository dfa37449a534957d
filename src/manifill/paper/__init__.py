"""Reproduction of the paper's numerical results through the public interface: ``manifill reproduce``."""

from manifill.paper.experiments import EXPERIMENTS, reproduce
from manifill.paper.protocol import FULL, QUICK, USUAL, Protocol, Size

__all__ = ["EXPERIMENTS", "FULL", "QUICK", "USUAL", "Protocol", "Size", "reproduce"]
