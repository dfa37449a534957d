"""Step sizes learned in warm-up by dual averaging (Hoffman and Gelman 2014, §3.2)."""

from typing import NamedTuple

import numpy as np

__all__ = ["DualAveraging"]

# Hoffman and Gelman's constants κ, γ and t₀.
DECAY, SHRINKAGE, OFFSET = 0.75, 0.05, 10.0

# γ for a step size that is nearly right.  With theirs it varies by a factor of two from one iteration to the next, and
# the acceptance at the average is far above the average acceptance, since long steps are refused altogether.
FIRM_SHRINKAGE = 0.5


class DualAveraging(NamedTuple):
    """State of the step size adaptation; ``init``, ``update`` and ``final`` return new values."""

    log_longest: float
    log_center: float
    log_step: float
    log_average: float
    error: float
    iterations: int
    shrinkage: float  # γ

    @classmethod
    def init(cls, step_size: float, longest: float) -> "DualAveraging":
        """Start at ``step_size`` and shrink towards ten times that; no step is longer than ``longest``."""
        log_longest, log_step = float(np.log(longest)), float(np.log(step_size))
        return cls(log_longest, log_step + np.log(10.0), log_step, log_step, 0.0, 0, SHRINKAGE)

    def refined(self) -> "DualAveraging":
        """Return an adaptation that starts at the average and shrinks towards it."""
        center = self.log_average
        return DualAveraging(self.log_longest, center, center, center, 0.0, 0, FIRM_SHRINKAGE)

    def update(self, acceptance: float, target: float) -> "DualAveraging":
        """Return the state after one iteration whose mean acceptance was ``acceptance``."""
        count = self.iterations + 1
        weight = 1.0 / (count + OFFSET)
        error = (1.0 - weight) * self.error + weight * (target - (acceptance if np.isfinite(acceptance) else 0.0))
        log_step = min(self.log_center - np.sqrt(count) / self.shrinkage * error, self.log_longest)
        share = count**-DECAY
        log_average = share * log_step + (1.0 - share) * self.log_average
        return self._replace(log_step=log_step, log_average=log_average, error=error, iterations=count)

    @property
    def step_size(self) -> float:
        """The step size to take next."""
        return float(np.exp(self.log_step))

    def final(self) -> "DualAveraging":
        """Return a state whose step size is the average, for use after warm-up."""
        return self._replace(log_step=self.log_average)
