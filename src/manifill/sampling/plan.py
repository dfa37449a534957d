"""The plan of a fit's chains."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manifill.sampling.sampler import Sampler

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """Settings that all chains share; it is pickled and sent to the worker processes."""

    build: Callable[[], Sampler[Any, Any, Any]]
    chains: int
    warmup: int
    path: Path | None = None  # of the store for the draws; None keeps them in memory
    checkpoints: Path | None = None  # their folder; a chain with a checkpoint there is resumed
    products: float = 0.0  # of two numbers in a pass over the cells, for the first guess of the time

    def checkpoint(self, chain: int) -> Path | None:
        """Return the path of a chain's checkpoint, or None if chains have none."""
        return None if self.checkpoints is None else self.checkpoints / f"chain-{chain}.npz"
